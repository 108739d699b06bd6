#include "chip_work.hpp"

#include <algorithm>
#include <map>

#include "node_schedule.hpp"

namespace tessera::strategy::mcm {
namespace {

using workload::GraphNodeId;
using workload::TensorId;
using workload::TensorKind;

class Assembly {
 public:
  Assembly(const Package& package, const Partition& partition)
      : package_(package), partition_(partition), work_(package.chips()), local_(package.chips()) {}

  std::vector<ChipWork> assemble(const PipelineRules& rules) {
    place_nodes();
    for (TensorId tensor = 0; tensor < package_.uses.size(); ++tensor) place_tensor(tensor);
    find_exchanges(rules.depth);
    for (std::size_t chip = 0; chip < work_.size(); ++chip) {
      count_sources(local_[chip]);
      work_[chip].turns = scheduled(local_[chip], rules.schedule);
      work_[chip].send_buffers = rules.send_buffers;
      work_[chip].held = most_held(work_[chip].turns);
    }
    return std::move(work_);
  }

 private:
  struct Spot {
    ChipId chip = 0;
    std::uint32_t index = 0;  // in the chip's nodes
  };

  void place_nodes() {
    spots_.resize(package_.graph.nodes.size());
    const std::vector<std::vector<ChipId>> copied = copies(package_.reduced, partition_);
    std::map<GraphNodeId, std::size_t> copy_of;
    for (std::size_t i = 0; i < copied.size(); ++i) copy_of[package_.reduced.replicated[i]] = i;
    for (const GraphNodeId node : package_.order) {
      const auto& solved = package_.reduced.solved_as[node];
      if (solved) {
        place(node, partition_[*solved]);
      } else {
        for (const ChipId chip : copied[copy_of[node]]) place(node, chip);
      }
    }
  }
  void place(GraphNodeId node, ChipId chip) {
    spots_[node].push_back({chip, static_cast<std::uint32_t>(local_[chip].nodes.size())});
    local_[chip].nodes.push_back({node, {}, {}, {}, 0});
  }

  /// Where a tensor is read, made, held and sent.
  void place_tensor(TensorId tensor) {
    const TensorUse& use = package_.uses[tensor];
    const workload::Tensor& what = package_.graph.tensors[tensor];
    std::map<ChipId, std::vector<std::uint32_t>> readers;  // nodes by chip
    for (const GraphNodeId node : use.readers)
      for (const Spot& spot : spots_[node]) readers[spot.chip].push_back(spot.index);
    if (use.maker == TensorUse::no_node) {
      for (const auto& [chip, nodes] : readers) {
        if (what.kind == TensorKind::input) {
          hold(chip, what.bytes, nodes, true);
        } else {
          work_[chip].weights += what.bytes;
        }
      }
      return;
    }
    for (const Spot& maker : spots_[use.maker]) place_made(maker, what.bytes, readers);
  }

  void place_made(const Spot& maker, std::int64_t bytes, const std::map<ChipId, std::vector<std::uint32_t>>& readers) {
    bool leaves = false;
    const bool is_copied = !package_.reduced.solved_as[local_[maker.chip].nodes[maker.index].id].has_value();
    for (const auto& [chip, nodes] : readers) {
      if (chip == maker.chip) {
        std::vector<std::uint32_t>& behind = local_[chip].nodes[maker.index].behind;
        behind.insert(behind.end(), nodes.begin(), nodes.end());
      } else if (!is_copied) {  // a copy is read on its own chip alone
        sent_[{maker.chip, chip}] += bytes;
        leaves = true;
      }
    }
    if (leaves) {
      work_[maker.chip].sent += bytes;  // where it is made, and read here, too
      return;
    }
    const auto own = readers.find(maker.chip);
    const std::uint32_t number =
        hold(maker.chip, bytes, own == readers.end() ? std::vector<std::uint32_t>() : own->second, false);
    local_[maker.chip].nodes[maker.index].writes.push_back(number);
  }

  std::uint32_t hold(ChipId chip, std::int64_t bytes, const std::vector<std::uint32_t>& readers, bool is_the_hosts) {
    LocalGraph& local = local_[chip];
    const auto number = static_cast<std::uint32_t>(local.tensors.size());
    local.tensors.push_back({bytes, static_cast<std::uint32_t>(readers.size()), is_the_hosts});
    for (const std::uint32_t node : readers) local.nodes[node].reads.push_back(number);
    return number;
  }

  static void count_sources(LocalGraph& local) {
    for (LocalGraph::Node& node : local.nodes) {
      std::sort(node.behind.begin(), node.behind.end());
      node.behind.erase(std::unique(node.behind.begin(), node.behind.end()), node.behind.end());
      for (const std::uint32_t reader : node.behind) ++local.nodes[reader].sources;
    }
  }

  /// Chips ascend along the ring, so the longest ways are found in their order.
  void find_exchanges(std::int64_t depth) {
    std::vector<std::int64_t> stage(work_.size(), 0);
    for (const auto& [pair, bytes] : sent_) {  // by sender: all that lead to one come before those from it
      stage[pair.second] = std::max(stage[pair.second], stage[pair.first] + 1);
    }
    for (const auto& [pair, bytes] : sent_) {
      const std::int64_t ahead = depth + stage[pair.second] - stage[pair.first] - 1;
      work_[pair.second].from.push_back({pair.first, bytes, ahead});
      work_[pair.first].to.push_back({pair.second, bytes, ahead});
    }
  }

  const Package& package_;
  const Partition& partition_;
  std::vector<ChipWork> work_;
  std::vector<LocalGraph> local_;
  std::vector<std::vector<Spot>> spots_;                    // by node
  std::map<std::pair<ChipId, ChipId>, std::int64_t> sent_;  // B, by sender and receiver
};

}  // namespace

std::vector<ChipWork> chip_work(const Package& package, const Partition& partition, const PipelineRules& rules) {
  return Assembly(package, partition).assemble(rules);
}

std::int64_t peak_bytes(const ChipWork& work) {
  std::int64_t bytes = work.weights + work.send_buffers * work.sent + work.held;
  for (const Exchange& from : work.from) bytes += from.depth * from.bytes;
  return bytes;
}

}  // namespace tessera::strategy::mcm
