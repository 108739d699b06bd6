#include "sim/gpu/tracked_tiles.hpp"

#include <algorithm>
#include <utility>

#include "sim/gpu/gpu.hpp"

namespace tessera::sim {
namespace {

/// What is added on its way is reduced, what is only passed on is gathered.
TrafficClass reads(const TilePlace& place) {
  return place.adds ? TrafficClass::reduce_scatter_read : TrafficClass::all_gather_read;
}
TrafficClass received_class(const TilePlace& place) {
  return place.tracked() ? written_class(reads(place)) : TrafficClass::other;
}

}  // namespace

TrackedTiles::TrackedTiles(const KernelContext& context, const Maps& maps, const GemmLayout& layout,
                           std::int64_t dma_tiles, TileWatcher& watcher)
    : context_(context),
      layout_(&layout),
      watcher_(&watcher),
      wavefronts_(layout.wavefronts()),
      output_tiles_(maps.output.tiles),
      places_(maps.output),
      state_{Tracker(tracker_spec(*context.spec)), {}} {
  if (maps.input != nullptr) {
    places_.append(TilePlaces(*maps.input));
    state_.missing.resize(maps.input->tiles);
  }
  state_.outgoing.resize(std::size_t{places_.tiles()} * wavefronts_);
  for (const TilePlaces::Run& run : places_.runs()) {
    if (run.place.tracked()) expect(run, dma_tiles);
  }
  state_.tracker.begin(places_.tiles());
}

// What is here from the start has not come: the Tracker is not asked.
void TrackedTiles::begin(Time now) {
  for (std::uint32_t number = output_tiles_ * wavefronts_; number < state_.outgoing.size(); ++number) {
    if (place_of(number).writes > 0 && bytes_of(number) > 0) completed(number, now);
  }
}

void TrackedTiles::expect_from(const program::AddressMap& other) {
  for (const program::Region& region : other.regions) {
    const bool sent_here = region.kind == program::RegionKind::remote && region.destination == context_.rank;
    if (!sent_here || region.counted_there) continue;
    const std::uint32_t end = (region.first_tile + region.tiles) * wavefronts_;
    for (std::uint32_t number = region.first_tile * wavefronts_; number < end; ++number)
      state_.awaited += bytes_of(number) * region.writes;
  }
}

// Wavefronts beyond the edge of the matrix write nothing, and nothing is expected of them.
void TrackedTiles::expect(const TilePlaces::Run& run, std::int64_t dma_tiles) {
  const std::uint32_t end = (run.first + run.tiles) * wavefronts_;
  DmaCommand command;
  for (std::uint32_t number = run.first * wavefronts_; number < end; ++number) {
    const bool writes = bytes_of(number) > 0;
    state_.incomplete += writes ? 1 : 0;
    if (is_input(number)) state_.missing[row_of(number)] += writes ? 1 : 0;
    if (run.place.sent_to.empty()) continue;
    if (command.tiles == 0) command.first_tile = number;
    command.tiles += writes ? 1 : 0;
    state_.outgoing[number].command = static_cast<std::uint32_t>(state_.commands.size());
    const bool whole = number + 1 - command.first_tile == static_cast<std::uint32_t>(dma_tiles);
    if (command.tiles > 0 && (whole || number + 1 == end)) {
      command.wavefronts = number + 1 - command.first_tile;
      static_cast<void>(state_.commands.add(command));
      command = {};
    }
  }
}

void TrackedTiles::send(std::uint32_t number, const std::vector<std::uint32_t>& members) {
  const auto bytes = static_cast<std::uint32_t>(bytes_of(number));
  if (bytes == 0) return;
  const bool combined = place_of(number).combined;
  for (const std::uint32_t member : members) context_.host->send_block(member, {number, bytes, false, combined});
}

void TrackedTiles::received(std::uint32_t number, Time now) {
  const TilePlace& place = place_of(number);
  state_.bytes_received += bytes_of(number);
  const MemoryOp op = place.adds ? MemoryOp::update : MemoryOp::write;
  for_each_block(number, [&](BlockId block, std::uint32_t bytes) {
    context_.updater->store(
        now, {block, bytes, op, MemoryStream::communication, received_class(place), number, from_neighbour});
  });
}

void TrackedTiles::stored(const MemoryRequest& request, Time now) {
  if (place_of(request.owner).tracked()) return count(request.owner, request.bytes, now);
  if (request.detail != from_neighbour) return;
  state_.awaited -= request.bytes;
  watcher_->went_on();
}

void TrackedTiles::count(std::uint32_t number, std::uint32_t bytes, Time now) {
  const auto threshold = static_cast<std::uint32_t>(bytes_of(number) * place_of(number).updates);
  if (state_.beside.count(number) > 0) return count_beside(number, bytes, threshold, now);
  switch (state_.tracker.update(tile_of(number), wavefront_of(number), bytes, threshold)) {
    case TrackerOutcome::counted:
      return;
    case TrackerOutcome::full:
      return count_beside(number, bytes, threshold, now);
    case TrackerOutcome::complete:
      return completed(number, now);
  }
}

// An update must never wait for others to complete, which may be what it is awaited for.
void TrackedTiles::count_beside(std::uint32_t number, std::uint32_t bytes, std::uint32_t threshold, Time now) {
  ++state_.held_back;
  std::uint32_t& counted = state_.beside[number];
  counted += bytes;
  if (counted < threshold) return;
  state_.beside.erase(number);
  completed(number, now);
}

void TrackedTiles::completed(std::uint32_t number, Time now) {
  --state_.incomplete;
  const std::uint32_t command = state_.outgoing[number].command;
  if (!place_of(number).sent_to.empty() && state_.commands.tile_complete(command)) carry_out(command, now);
  if (is_input(number) && --state_.missing[row_of(number)] == 0) watcher_->row_complete(row_of(number), now);
  watcher_->went_on();
}

void TrackedTiles::carry_out(std::uint32_t number, Time now) {
  const DmaCommand& command = state_.commands.fire(number);
  const std::uint32_t end = command.first_tile + command.wavefronts;
  for (std::uint32_t i = command.first_tile; i < end; ++i) read_out(i, now);
}

// Each destination has a DMA of its own, which reads what it sends.
void TrackedTiles::read_out(std::uint32_t number, Time now) {
  const TilePlace& place = place_of(number);
  if (bytes_of(number) == 0) return;
  ++state_.reading;
  Outgoing& outgoing = state_.outgoing[number];
  outgoing.reading = 1;  // as long as it is being asked for, whatever is answered at once
  for (std::size_t i = 0; i < place.sent_to.size(); ++i) {
    for_each_block(number, [&](BlockId block, std::uint32_t bytes) {
      ++outgoing.reading;
      context_.memory->read_uncached(now, block, bytes, MemoryStream::communication, reads(place), dma_owner | number);
    });
  }
  arrived(dma_owner | number, now, now);
}

// What a DMA has read leaves when all data of the WF tile are there.
void TrackedTiles::arrived(std::uint32_t owner, Time at, Time now) {
  const std::uint32_t number = owner & ~dma_owner;
  Outgoing& outgoing = state_.outgoing[number];
  outgoing.there = std::max(outgoing.there, std::max(at, now));
  if (--outgoing.reading == 0) context_.host->wake_gpu(outgoing.there, {GpuWake::What::block_read, number});
}

void TrackedTiles::read(std::uint32_t number) {
  send(number, place_of(number).sent_to);
  --state_.reading;
  watcher_->went_on();
}

std::string TrackedTiles::waits_for() const {
  std::string text = "updates of " + std::to_string(state_.incomplete) + " wavefront tiles";
  const auto rows =
      std::count_if(state_.missing.begin(), state_.missing.end(), [](std::uint32_t parts) { return parts > 0; });
  if (rows > 0) text += ", " + std::to_string(rows) + " rows of its input";
  return text;
}

}  // namespace tessera::sim
