// What a producer's output address space says: T3's remote_map and dma_map
// (section 4.4), for one device and for a group. A kernel that stores through
// it knows nothing of the collective that it feeds.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tessera::program {

enum class StoreOperation : std::uint8_t { store, update };

enum class RegionKind : std::uint8_t {
  local,   ///< written here and left here
  remote,  ///< remote_map: the producer's stores go to another device, and are
           ///< not tracked here
  dma,     ///< dma_map: written here, sent when all updates are here
};

/// Consecutive WG tiles of the output.
struct Region {
  std::uint32_t first_tile = 0;
  std::uint32_t tiles = 0;
  RegionKind kind = RegionKind::local;
  std::uint32_t destination = 0;  ///< rank in the group; local: not used
  StoreOperation operation = StoreOperation::update;
  /// Of each element, counted here: the producer's own and those that come.
  /// dma: sent after so many; local: complete after so many, 0 when nobody
  /// waits for it; remote: 0.
  std::uint32_t updates = 0;
  /// The producer's own, of each element: the degree of split-K; 0 where only
  /// other devices write (all-gather).
  std::uint32_t writes = 1;
  /// Whether the destination's Tracker counts what is sent as updates of the
  /// same tiles (reduce-scatter, all-gather), or it goes to another buffer
  /// (all-to-all).
  bool counted_there = true;
  /// remote: the switch in front of the destination adds what all other devices
  /// store there; it comes once (section 7.4).
  bool combined = false;
};

/// The output of one device's producer. Tiles without a region are written
/// locally, and nobody waits for them.
struct AddressMap {
  std::uint32_t rank = 0;
  std::uint32_t ranks = 0;
  std::uint32_t tiles = 0;  ///< WG tiles of the whole output
  std::vector<Region> regions;
  /// The producer's first tile. An all-gather's output is the whole gathered
  /// array: the shards of all members, each as large as what a producer makes.
  std::uint32_t first_own = 0;
};

/// What is wrong with one map: empty or too large regions, destinations outside
/// of the group, overlaps. Those may overlap that go to different devices: dma
/// regions after the same number of updates, and remote ones with each other and
/// with a local one (the same result here and there).
[[nodiscard]] std::vector<std::string> problems(const AddressMap& map);

/// Problems of each map of a group, by rank; where there are none, numbers of
/// updates that are never reached, or exceeded, when all devices do what their
/// maps say. Finds cycles too: commands that wait for each other.
[[nodiscard]] std::vector<std::string> problems(const std::vector<AddressMap>& group);

/// Ring reduce-scatter (T3, figures 7, 11 and 12): member r computes chunk r
/// first and stores it to member r-1, sends chunks r+1 .. r+size-2 there by
/// DMA, and keeps chunk r-1. Regions are in the order in which the staggered
/// device dispatches their work-groups. Chunks are whole WG tiles and differ by
/// at most one; `writes`: the degree of split-K.
[[nodiscard]] AddressMap ring_reduce_scatter_map(std::uint32_t rank, std::uint32_t ranks, std::uint32_t tiles,
                                                 std::uint32_t writes = 1);
/// Direct reduce-scatter, fully connected (section 7.1): stores go to where
/// they are summed; the collective makes no memory access of its own.
[[nodiscard]] AddressMap direct_reduce_scatter_map(std::uint32_t rank, std::uint32_t ranks, std::uint32_t tiles,
                                                   std::uint32_t writes = 1);
/// All-to-all (section 7.1): each chunk is stored to the member that it is for.
[[nodiscard]] AddressMap all_to_all_map(std::uint32_t rank, std::uint32_t ranks, std::uint32_t tiles,
                                        std::uint32_t writes = 1);
/// Ring all-gather (section 7.1): like the reduce-scatter, but nothing is added.
/// `tiles` are those of a shard, which each member makes, keeps and sends to
/// member r-1 by DMA; what comes there goes on until everybody has it.
[[nodiscard]] AddressMap ring_all_gather_map(std::uint32_t rank, std::uint32_t ranks, std::uint32_t tiles,
                                             std::uint32_t writes = 1);
/// Direct all-gather, fully connected: each member stores its shard here and to
/// all others.
[[nodiscard]] AddressMap direct_all_gather_map(std::uint32_t rank, std::uint32_t ranks, std::uint32_t tiles,
                                               std::uint32_t writes = 1);
/// The same map where a switch adds what all other members store to one (section 7.4): it comes there once. All members
/// begin with the same chunk, so that a switch holds no more sums than they are apart.
[[nodiscard]] AddressMap combined(AddressMap map);
/// All of it is stored to member r+1 (section 7.2, pipeline parallelism); the same order on all, nothing stays.
[[nodiscard]] AddressMap send_map(std::uint32_t rank, std::uint32_t ranks, std::uint32_t tiles,
                                  std::uint32_t writes = 1);
/// Everything stays and nobody waits for it.
[[nodiscard]] AddressMap local_map(std::uint32_t tiles);

/// The maps that a kernel can name: adding one is a function and its line in the list.
struct AddressMapKind {
  std::string name;
  std::string help;
  /// `tiles`: those that the producer makes.
  AddressMap (*make)(std::uint32_t rank, std::uint32_t ranks, std::uint32_t tiles, std::uint32_t writes) = nullptr;
  bool scatters_sums = false;  ///< each member ends with a chunk of the sum: an all-gather makes it whole
  bool gathers = false;        ///< each member ends with what all producers have made
  bool sends = false;          ///< each member ends with what the one before it has made
};
[[nodiscard]] const std::vector<AddressMapKind>& address_map_kinds();
[[nodiscard]] std::uint32_t address_map_index(const std::string& name);  ///< InternalError when there is none

/// One of the paper's two calls (figure 12), the same on all members: the output is cut into as many chunks as there
/// are members, and chunk and destination are relative to the rank.
struct MapCall {
  RegionKind kind = RegionKind::remote;
  std::uint32_t chunk = 0;  ///< (rank + chunk) modulo members
  std::int32_t shift = -1;  ///< to member rank + shift
  StoreOperation operation = StoreOperation::update;
  std::uint32_t updates = 2;  ///< dma: of each element, before it is sent
  bool operator==(const MapCall&) const = default;
};
/// The map of some calls. Chunks are computed in order from `rank` on. Those that no call names stay here, complete
/// with the updates that the other members' calls bring.
[[nodiscard]] AddressMap map_of_calls(const std::vector<MapCall>& calls, std::uint32_t rank, std::uint32_t ranks,
                                      std::uint32_t tiles, std::uint32_t writes = 1);

}  // namespace tessera::program
