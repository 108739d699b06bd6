#include "sim/memory/tracker.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "tessera/base/error.hpp"

namespace tessera::sim {
namespace {

/// Most WGs of a stage that share a set.
std::uint32_t wgs_per_set(const TrackerSpec& spec, std::uint32_t wgs) {
  return wgs / spec.sets + (wgs % spec.sets > 0 ? 1 : 0);
}

std::string name_of(std::uint32_t wg, std::uint32_t wf) { return fmt::format("WF {} of WG {}", wf, wg); }

}  // namespace

std::vector<std::string> problems(const TrackerSpec& spec) {
  std::vector<std::string> texts;
  if (!std::has_single_bit(spec.sets) || spec.sets > 1U << 16U)
    texts.push_back(fmt::format("tracker: {} sets, powers of two up to 2^16 are allowed", spec.sets));
  if (spec.wg_tag_bits > 15) texts.emplace_back("tracker: at most 15 bits of WG id in a tag are allowed");
  if (spec.wf_bits > 5) texts.emplace_back("tracker: at most 5 bits of WF id are allowed");
  if (spec.address_bits > 64) texts.emplace_back("tracker: at most 64 bits of address are allowed");
  if (spec.counter_bits < 1 || spec.counter_bits > 31)
    texts.push_back(fmt::format("tracker: {} bits of counter, 1 to 31 are allowed", spec.counter_bits));
  if (spec.bytes < 1 || spec.bytes > std::int64_t{1} << 30U)
    texts.push_back(fmt::format("tracker: {} B, 1 B to 1 GiB are allowed", spec.bytes));
  if (texts.empty() && spec.ways() < 1)
    texts.push_back(fmt::format("tracker: {} B are less than one entry of {} bits in each of {} sets", spec.bytes,
                                spec.entry_bits(), spec.sets));
  return texts;
}

bool fits(const TrackerSpec& spec, const TrackedStage& stage) { return problem(spec, stage).empty(); }

std::string problem(const TrackerSpec& spec, const TrackedStage& stage) {
  if (stage.wfs_per_wg > spec.wfs_per_wg())
    return fmt::format("tracker: {} WFs a WG, its {} bits of WF id tell {} apart", stage.wfs_per_wg, spec.wf_bits,
                       spec.wfs_per_wg());
  const std::uint32_t sharing = wgs_per_set(spec, stage.wgs);
  if (sharing > 1U << spec.wg_tag_bits)
    return fmt::format(
        "tracker: a stage of {} WGs, its {} sets and {} bits of "
        "WG id tell {} apart",
        stage.wgs, spec.sets, spec.wg_tag_bits, std::uint64_t{spec.sets} << spec.wg_tag_bits);
  const std::uint64_t needed = std::uint64_t{sharing} * stage.wfs_per_wg;
  if (needed > spec.ways())
    return fmt::format(
        "tracker: too small for a stage of {} WGs with {} WFs "
        "each: they need {} ways in a set, {} B in {} sets of "
        "entries of {} bits have {}",
        stage.wgs, stage.wfs_per_wg, needed, spec.bytes, spec.sets, spec.entry_bits(), spec.ways());
  return {};
}

std::string problem(const TrackerSpec& spec, const Expectation& expectation) {
  const Expectation& e = expectation;
  const std::string name = "tracker: " + name_of(e.wg, e.wf);
  if (e.wf >= spec.wfs_per_wg())
    return fmt::format("{}: its {} bits of WF id tell {} WFs apart", name, spec.wf_bits, spec.wfs_per_wg());
  if (e.bytes < 0 || e.updates < 1) return fmt::format("{} expects {} updates of {} B", name, e.updates, e.bytes);
  const std::int64_t most = (std::int64_t{1} << spec.counter_bits) - 1;
  if (e.bytes > most / e.updates)
    return fmt::format(
        "{}: a threshold of {} B x {} updates is beyond its "
        "counter of {} bits ({} B)",
        name, e.bytes, e.updates, spec.counter_bits, most);
  if (e.arriving < e.threshold())
    return fmt::format(
        "{} waits for {} B ({} B x {} updates), but only {} B "
        "will ever come: it would wait for ever",
        name, e.threshold(), e.bytes, e.updates, e.arriving);
  if (e.arriving > e.threshold())
    return fmt::format(
        "{} waits for {} B ({} B x {} updates), but {} B will "
        "come: it would go on before the last",
        name, e.threshold(), e.bytes, e.updates, e.arriving);
  return {};
}

Tracker::Tracker(const TrackerSpec& spec) : spec_(spec) {
  std::string text;
  for (const std::string& problem : problems(spec)) text += (text.empty() ? "" : "\n") + problem;
  if (!text.empty()) throw InputError(text);
  ways_ = spec.ways();
  entries_.resize(std::size_t{spec.sets} * ways_);
}

void Tracker::begin(std::uint32_t wgs) {
  if (live_ > 0) throw InternalError(fmt::format("a producer starts while {} entries of the tracker wait", live_));
  wgs_ = wgs;
  is_complete_.assign(std::size_t{wgs} << spec_.wf_bits, false);
}

TrackerOutcome Tracker::update(std::uint32_t wg, std::uint32_t wf, std::uint32_t bytes, std::uint32_t threshold) {
  check(wg, wf, bytes, threshold);
  Entry* entry = find(wg, wf);
  if (entry == nullptr) {
    ++counts_.full;
    return TrackerOutcome::full;
  }
  if (entry->counted == 0) {
    *entry = {wg, wf, 0, threshold};
    counts_.most_live = std::max(counts_.most_live, ++live_);
  }
  if (entry->threshold != threshold || bytes > threshold - entry->counted)
    throw InternalError(fmt::format("tracker: {} has {} of {} B, and now gets {} of {} B", name_of(wg, wf),
                                    entry->counted, entry->threshold, bytes, threshold));
  entry->counted += bytes;
  ++counts_.updates;
  if (entry->counted < threshold) return TrackerOutcome::counted;
  entry->counted = 0;
  --live_;
  ++counts_.completed;
  is_complete_[(std::size_t{wg} << spec_.wf_bits) + wf] = true;
  return TrackerOutcome::complete;
}

Tracker::Entry* Tracker::find(std::uint32_t wg, std::uint32_t wf) {
  const std::uint32_t tag_mask = (spec_.sets << spec_.wg_tag_bits) - 1;
  Entry* const first = entries_.data() + std::size_t{set_of(wg)} * ways_;
  Entry* free = nullptr;
  for (Entry* entry = first; entry != first + ways_; ++entry) {
    if (entry->counted == 0) {
      if (free == nullptr) free = entry;
    } else if (entry->wf == wf && ((entry->wg ^ wg) & tag_mask) == 0) {
      return entry->wg == wg ? entry : nullptr;  // another WG with the same tag has to be done first
    }
  }
  return free;
}

void Tracker::check(std::uint32_t wg, std::uint32_t wf, std::uint32_t bytes, std::uint32_t threshold) const {
  if (wg >= wgs_ || wf >= spec_.wfs_per_wg())
    throw InternalError(fmt::format("tracker: an update of {}, of {} WGs", name_of(wg, wf), wgs_));
  if (bytes == 0 || threshold == 0 || threshold >> spec_.counter_bits != 0)
    throw InternalError(fmt::format("tracker: {} gets {} of {} B, its counter has {} bits", name_of(wg, wf), bytes,
                                    threshold, spec_.counter_bits));
  if (is_complete_[(std::size_t{wg} << spec_.wf_bits) + wf])
    throw InternalError(fmt::format("tracker: {} gets {} B after its last update", name_of(wg, wf), bytes));
}

}  // namespace tessera::sim
