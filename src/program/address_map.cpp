#include "tessera/program/address_map.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "tessera/base/error.hpp"

namespace tessera::program {
namespace {

std::uint64_t end_of(const Region& region) { return std::uint64_t{region.first_tile} + region.tiles; }

std::string name_of(const Region& region) {
  const char* const kinds[] = {"local region", "remote_map", "dma_map"};
  return fmt::format("{} of WG tiles {} to {}", kinds[static_cast<int>(region.kind)], region.first_tile,
                     end_of(region) - 1);
}

void check_region(const AddressMap& map, const Region& region, std::vector<std::string>& texts) {
  if (region.tiles == 0) {
    texts.push_back(fmt::format("a region at WG tile {} has no tiles", region.first_tile));
    return;
  }
  const std::string name = name_of(region);
  if (end_of(region) > map.tiles) texts.push_back(fmt::format("{}: the output has {} WG tiles", name, map.tiles));
  if (region.kind == RegionKind::dma && region.updates == 0)
    texts.push_back(name + " must expect at least one update of each element");
  if (region.kind == RegionKind::remote && region.updates > 0)
    texts.push_back(name + " is not written here: no updates can be expected");
  if (region.kind == RegionKind::remote && region.writes == 0)
    texts.push_back(name + " sends nothing: the producer does not write it");
  if (region.kind == RegionKind::local) return;
  if (region.destination >= map.ranks)
    texts.push_back(fmt::format("{} goes to rank {} of a group of {}", name, region.destination, map.ranks));
  if (region.destination == map.rank) texts.push_back(name + " goes to the device itself");
}

/// Why two regions that share tiles must not; empty when they may.
std::string conflict(const Region& a, const Region& b) {
  if ((a.kind == RegionKind::dma) != (b.kind == RegionKind::dma)) return "overlaps";
  if (a.kind == RegionKind::local && b.kind == RegionKind::local) return "overlaps";
  if (a.kind == b.kind && a.destination == b.destination) return "goes to the same rank as";
  if (a.kind != RegionKind::dma) return a.writes == b.writes ? "" : "is not written as often as";
  return a.updates == b.updates && a.writes == b.writes ? "" : "does not expect the same updates as";
}

void check_overlaps(const AddressMap& map, std::vector<std::string>& texts) {
  std::vector<const Region*> sorted;
  for (const Region& region : map.regions) {
    if (region.tiles > 0) sorted.push_back(&region);
  }
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const Region* a, const Region* b) { return a->first_tile < b->first_tile; });
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    for (std::size_t j = i + 1; j < sorted.size() && sorted[j]->first_tile < end_of(*sorted[i]); ++j) {
      const std::string how = conflict(*sorted[i], *sorted[j]);
      if (!how.empty()) texts.push_back(fmt::format("{} {} {}", name_of(*sorted[i]), how, name_of(*sorted[j])));
    }
  }
}

/// Where regions of any device start or end: between two of these, all tiles
/// fare alike.
std::vector<std::uint64_t> cuts_of(const std::vector<AddressMap>& group) {
  std::vector<std::uint64_t> cuts;
  for (const AddressMap& map : group) {
    for (const Region& region : map.regions) cuts.insert(cuts.end(), {region.first_tile, end_of(region)});
  }
  std::sort(cuts.begin(), cuts.end());
  cuts.erase(std::unique(cuts.begin(), cuts.end()), cuts.end());
  return cuts;
}

/// The updates of one tile on all devices of a group.
class TileCourse {
 public:
  TileCourse(const std::vector<AddressMap>& group, std::uint64_t tile)
      : here_(group.size()), came_(group.size(), 0), combined_(group.size(), 0) {
    for (std::size_t rank = 0; rank < group.size(); ++rank) {
      for (const Region& region : group[rank].regions) {
        if (tile < region.first_tile || tile >= end_of(region)) continue;
        add(rank, region);
      }
    }
    // What all others have sent comes once.
    for (std::size_t rank = 0; rank < group.size(); ++rank)
      came_[rank] += combined_[rank] / std::max<std::size_t>(1, group.size() - 1);
  }

  /// Sends what is ready, until no more is.
  void run() {
    std::vector<bool> sent(here_.size(), false);
    for (bool again = true; again;) {
      again = false;
      for (std::size_t rank = 0; rank < here_.size(); ++rank) {
        if (sent[rank] || here_[rank].empty() || here_[rank][0]->kind != RegionKind::dma) continue;
        if (came_[rank] < here_[rank][0]->updates) continue;
        sent[rank] = again = true;
        for (const Region* region : here_[rank]) came_[region->destination] += region->counted_there ? 1 : 0;
      }
    }
  }

  /// The regions of a rank that the tile is in; all expect the same number of
  /// updates, but remote ones, which stand last.
  [[nodiscard]] const std::vector<const Region*>& regions(std::size_t rank) const { return here_[rank]; }
  [[nodiscard]] std::uint64_t came(std::size_t rank) const { return came_[rank]; }

 private:
  void add(std::size_t rank, const Region& region) {
    std::vector<const Region*>& here = here_[rank];
    if (region.kind == RegionKind::remote) {
      here.push_back(&region);
      if (region.counted_there) (region.combined ? combined_ : came_)[region.destination] += region.writes;
      return;
    }
    // Several: the same data, sent to several devices.
    if (here.empty() || here[0]->kind == RegionKind::remote) came_[rank] += region.writes;
    here.insert(here.begin(), &region);
  }

  std::vector<std::vector<const Region*>> here_;  // by rank
  std::vector<std::uint64_t> came_;               // by rank
  std::vector<std::uint64_t> combined_;           // by rank: of those that switches add
};

void check_updates(const std::vector<AddressMap>& group, std::vector<std::string>& texts) {
  std::vector<const Region*> named;  // those with a problem, so that each is named once
  for (const std::uint64_t tile : cuts_of(group)) {
    TileCourse course(group, tile);
    course.run();
    for (std::size_t rank = 0; rank < group.size(); ++rank) {
      if (course.regions(rank).empty()) continue;
      const Region& region = *course.regions(rank)[0];
      const std::uint64_t came = course.came(rank);
      const bool is_elsewhere = region.kind == RegionKind::remote;
      if (is_elsewhere ? came == 0 : region.updates == 0 || came == region.updates) continue;
      if (std::find(named.begin(), named.end(), &region) != named.end()) continue;
      named.push_back(&region);
      if (is_elsewhere) {
        texts.push_back(
            fmt::format("rank {}: {} update(s) of each element come to WG tile {}, which it stores to rank {}", rank,
                        came, tile, region.destination));
        continue;
      }
      texts.push_back(
          fmt::format("rank {}: {} waits for {} update(s) of each element, but {} come(s) "
                      "to WG tile {}: {}",
                      rank, name_of(region), region.updates, came, tile,
                      came < region.updates ? "it would wait for ever" : "it would go on before the last"));
    }
  }
}

}  // namespace

std::vector<std::string> problems(const AddressMap& map) {
  std::vector<std::string> texts;
  for (const Region& region : map.regions) check_region(map, region, texts);
  check_overlaps(map, texts);
  return texts;
}

std::vector<std::string> problems(const std::vector<AddressMap>& group) {
  std::vector<std::string> texts;
  for (std::size_t rank = 0; rank < group.size(); ++rank) {
    if (group[rank].rank != rank || group[rank].ranks != group.size())
      throw InternalError(fmt::format("address map {} of {} is that of rank {} of {}", rank, group.size(),
                                      group[rank].rank, group[rank].ranks));
    for (const std::string& text : problems(group[rank])) texts.push_back(fmt::format("rank {}: {}", rank, text));
  }
  if (texts.empty()) check_updates(group, texts);
  return texts;
}

}  // namespace tessera::program
