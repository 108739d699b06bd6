#include "wiring.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "tessera/base/error.hpp"

namespace tessera::pdes {

namespace {

/// Collects what crosses ranks, link by link.
class Crossings {
 public:
  Crossings(const Partition& partition, int rank)
      : partition_(partition),
        rank_(rank),
        boundary_(partition.rank_of.size(), never),
        pairs_(partition.ranks <= most_ranks_for_pairs ? partition.ranks * partition.ranks : 0) {}

  void add_link(const LinkInfo& link) {
    const int from = partition_.rank_of[link.from];
    const int to = partition_.rank_of[link.to];
    if (from == to) return;
    lookahead_ = std::min(lookahead_, link.latency);
    connect(from, to);
    if (to == rank_) in_.insert(from);
    if (from != rank_) return;
    lower(to, link.latency);
    boundary_[link.from] = std::min(boundary_[link.from], link.latency);
  }

  void add_crossbar(const Crossbar& crossbar) {
    std::set<int> ranks;
    for (ComponentId id = crossbar.first; id < crossbar.first + crossbar.count; ++id)
      ranks.insert(partition_.rank_of[id]);
    if (ranks.size() < 2) return;
    lookahead_ = std::min(lookahead_, crossbar.latency);
    for (const int from : ranks) {
      for (const int to : ranks) {
        if (from != to) connect(from, to);
      }
    }
    if (!ranks.contains(rank_)) return;
    for (const int other : ranks) {
      if (other == rank_) continue;
      in_.insert(other);
      lower(other, crossbar.latency);
    }
    for (ComponentId id = crossbar.first; id < crossbar.first + crossbar.count; ++id) {
      if (partition_.rank_of[id] == rank_) {
        boundary_[id] = std::min(boundary_[id], crossbar.latency);
      }
    }
  }

  [[nodiscard]] Wiring wiring() const {
    Wiring wiring;
    for (const auto& [rank, latency] : out_) wiring.out.push_back({rank, latency});
    wiring.in.assign(in_.begin(), in_.end());
    detail::Place place = 0;
    for (ComponentId id = 0; id < boundary_.size(); ++id) {
      if (partition_.rank_of[id] != rank_) continue;
      if (boundary_[id] != never) wiring.boundary.push_back({place, boundary_[id]});
      ++place;
    }
    wiring.lookahead = lookahead_;
    const auto connected = static_cast<std::size_t>(std::count(pairs_.begin(), pairs_.end(), true));
    wiring.all_pairs = !pairs_.empty() && connected == pairs_.size() - static_cast<std::size_t>(partition_.ranks);
    return wiring;
  }

 private:
  void lower(int rank, Time latency) {
    const auto at = out_.emplace(rank, never).first;
    at->second = std::min(at->second, latency);
  }

  /// Beyond this a message to every rank costs more than a reduction.
  static constexpr int most_ranks_for_pairs = 16;

  void connect(int from, int to) {
    if (!pairs_.empty()) pairs_[static_cast<std::size_t>(from * partition_.ranks + to)] = true;
  }

  const Partition& partition_;
  int rank_;
  std::map<int, Time> out_;
  std::set<int> in_;
  std::vector<Time> boundary_;  // by component: the smallest latency of its links that cross ranks
  std::vector<bool> pairs_;     // from rank x to rank, where there are few
  Time lookahead_ = never;
};

void place_components(const ModelGraph& model, const Partition& partition, int rank, Wiring& wiring,
                      detail::Kernel& kernel) {
  std::vector<detail::Place> outbox_of(static_cast<std::size_t>(partition.ranks), detail::no_place);
  for (std::size_t k = 0; k < wiring.out.size(); ++k) {
    outbox_of[static_cast<std::size_t>(wiring.out[k].rank)] = detail::remote_place + static_cast<detail::Place>(k);
  }
  kernel.places.resize(model.components);
  for (ComponentId id = 0; id < model.components; ++id) {
    if (partition.rank_of[id] == rank) {
      kernel.places[id] = static_cast<detail::Place>(wiring.local.size());
      wiring.local.push_back(id);
    } else {
      const bool is_somewhere = partition.rank_of[id] != Partition::nowhere;
      kernel.places[id] = is_somewhere ? outbox_of[partition.rank_of[id]] : detail::no_place;
    }
  }
}

/// Links grouped by component, each group in the order of the model: OutPort k is the k-th.
void place_links(const ModelGraph& model, std::vector<detail::Station>& stations, detail::Kernel& kernel) {
  const auto is_local = [&](ComponentId id) { return kernel.places[id] < detail::remote_place; };
  for (const LinkInfo& link : model.links) {
    if (is_local(link.from)) ++stations[kernel.places[link.from]].link_count;
  }
  std::vector<std::size_t> next(stations.size());
  std::size_t total = 0;
  for (std::size_t k = 0; k < next.size(); ++k) {
    next[k] = total;
    total += stations[k].link_count;
  }
  kernel.links.resize(total);
  for (std::size_t k = 0; k < next.size(); ++k) stations[k].links = kernel.links.data() + next[k];
  for (const LinkInfo& link : model.links) {
    if (!is_local(link.from)) continue;
    kernel.links[next[kernel.places[link.from]]++] = {link.latency, link.to, kernel.places[link.to], link.protocol};
  }
}

/// make_partition() never cuts such a link; a partition from elsewhere may.
void refuse_zero_lookahead(const ModelGraph& model, const Partition& partition) {
  const auto refuse = [&](const char* what, ComponentId from, ComponentId to) {
    throw InputError(fmt::format("the {} from {} to {} has no latency, but the two are on different ranks", what,
                                 name_of(model, from), name_of(model, to)));
  };
  for (const LinkInfo& link : model.links) {
    if (link.latency == 0 && partition.rank_of[link.from] != partition.rank_of[link.to])
      refuse("link", link.from, link.to);
  }
  for (const Crossbar& crossbar : model.crossbars) {
    if (crossbar.latency > 0) continue;
    for (ComponentId id = crossbar.first + 1; id < crossbar.first + crossbar.count; ++id) {
      if (partition.rank_of[id] != partition.rank_of[crossbar.first]) refuse("crossbar", crossbar.first, id);
    }
  }
}

}  // namespace

Wiring wire(const ModelGraph& model, const Partition& partition, int rank, detail::Kernel& kernel) {
  refuse_zero_lookahead(model, partition);
  Crossings crossings(partition, rank);
  for (const LinkInfo& link : model.links) crossings.add_link(link);
  for (const Crossbar& crossbar : model.crossbars) crossings.add_crossbar(crossbar);
  Wiring wiring = crossings.wiring();
  place_components(model, partition, rank, wiring, kernel);
  for (const ComponentId id : wiring.local) wiring.stations.push_back({nullptr, 0, 0, id, detail::no_crossbar});
  place_links(model, wiring.stations, kernel);
  for (const Crossbar& crossbar : model.crossbars) {
    for (ComponentId id = crossbar.first; id < crossbar.first + crossbar.count; ++id) {
      if (kernel.places[id] < detail::remote_place) {
        wiring.stations[kernel.places[id]].crossbar = static_cast<std::uint32_t>(kernel.crossbars.size());
      }
    }
    kernel.crossbars.push_back({crossbar.latency, crossbar.first, crossbar.count});
  }
  kernel.outboxes.resize(wiring.out.size());
  kernel.protocols = model.protocols;
  kernel.foresight = model.foresight;
  kernel.name = model.name ? model.name : [](ComponentId id) { return "component " + std::to_string(id); };
  return wiring;
}

}  // namespace tessera::pdes
