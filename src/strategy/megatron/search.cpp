// The fastest of the cuts that a table leaves open.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>

#include "device_state.hpp"
#include "loan_pairs.hpp"
#include "open_cuts.hpp"
#include "tessera/base/error.hpp"
#include "tessera/base/together.hpp"
#include "tessera/program/search/fastest.hpp"

namespace tessera::strategy::megatron {
namespace {

using program::search::Fastest;

/// The open keys' values, as [strategy] has them.
std::shared_ptr<config::Table> values_of(const OpenCuts& cuts, const Options& options) {
  config::Table all;
  options_schema().write(options, all);
  auto found = std::make_shared<config::Table>();
  for (const std::string& key : cuts.keys) found->set(key, *all.find(key));
  return found;
}

/// "selective"; of a list "fc1+activation".
std::string word_of(const config::Value& value) {
  if (value.array() == nullptr) return *value.string();
  std::vector<std::string> texts;
  for (const config::Value& text : *value.array()) texts.push_back(*text.string());
  return fmt::format("{}", fmt::join(texts, "+"));
}

/// "tensor 8, pipeline 8, recomputation selective, sequence_parallel": what is off is not named, but where some of the
/// keys are asked for.
std::string text_of(const OpenCuts& cuts, const Options& options, const std::vector<std::string>* some = nullptr) {
  std::vector<std::string> on, off;
  const std::shared_ptr<config::Table> values = values_of(cuts, options);
  for (const auto& [key, value] : values->entries()) {
    if (some != nullptr && std::ranges::find(*some, key) == some->end()) continue;
    if (const auto* number = std::get_if<std::int64_t>(&value.content()))
      on.push_back(fmt::format("{} {}", key, *number));
    else if (const auto* flag = std::get_if<bool>(&value.content()))
      (*flag || some != nullptr ? on : off).push_back(*flag ? key : "no " + key);
    else
      on.push_back(key == "schedule" ? word_of(value) : fmt::format("{} {}", key, word_of(value)));
  }
  return fmt::format("{}", fmt::join(on.empty() ? off : on, ", "));
}

/// Of one candidate; those that cannot fit are not even written.
program::Outlook outlook(const Cut& cut, const Job& job) {
  const std::int64_t bytes = certain_bytes(cut), usable = job.machine.device.usable_memory().value();
  if (bytes <= usable) return job.evaluations.outlook(plan_of(cut, job).program);
  program::Outlook found;
  found.need = bytes;
  found.reason = fmt::format("some device needs at least {} but has {}", size_text(bytes),
                             machine::memory_text(job.machine.device));
  return found;
}

/// What is wrong with the input whatever the cut, as a closed cut would have it.
void refuse_input(const std::vector<program::Outlook>& outlooks) {
  const program::Outlook& first = outlooks.front();
  const auto is_alike = [&](const program::Outlook& one) { return one.is_input && one.reason == first.reason; };
  if (!std::ranges::all_of(outlooks, is_alike)) return;
  if (!first.key.empty()) throw KeyError(first.key, first.reason);
  throw InputError(first.reason);
}

/// No plan, since time was over before there could be one.
[[noreturn]] void refuse_budget(const std::string& what) {
  throw InfeasibleError("--budget: time was over " + what + ", allowed: more time, or fewer values of open keys");
}

[[noreturn]] void refuse(const std::vector<program::Outlook>& outlooks, const Fastest& found,
                         const std::function<std::string(std::size_t)>& text) {
  using program::search::Fate;
  refuse_input(outlooks);
  const std::size_t all = outlooks.size();
  const std::int64_t large = found.count(Fate::too_large), left = found.open();
  if (large == static_cast<std::int64_t>(all)) {
    const auto smallest = std::ranges::min_element(outlooks, {}, &program::Outlook::need);
    throw InfeasibleError(fmt::format("none of {} candidates fits into memory; the smallest, {}: {}", all,
                                      text(static_cast<std::size_t>(smallest - outlooks.begin())), smallest->reason));
  }
  const std::size_t judged = all - static_cast<std::size_t>(left);
  if (found.is_cut_off) {
    refuse_budget(judged == 0
                      ? fmt::format("before the first of {} candidates was looked at", all)
                      : fmt::format("when {} of {} candidates had been looked at: {} do not fit into memory, {} "
                                    "cannot run for another reason",
                                    judged, all, large, found.count(Fate::refused)));
  }
  const auto first = std::ranges::find(found.judged, Fate::refused, &program::search::Judged::fate);
  std::string more = large > 0 ? fmt::format("; {} do not fit into memory", large) : "";
  if (left > 0) more += fmt::format("; {} are left that --budget does not reach", left);
  throw InfeasibleError(fmt::format("none of {} candidates can run, the first: {}{}", judged, first->reason, more));
}

/// The same on all ranks.
std::shared_ptr<const OpenCuts> listed_cuts(const config::Table& table, const Job& job) {
  std::shared_ptr<const OpenCuts> cuts;
  Communicator& comm = job.evaluations.comm();
  together(comm, [&] {
    config::Diagnostics checked;
    cuts = std::make_shared<const OpenCuts>(open_cuts(table, job, checked));
    // check() had no need to count them.
    if (const std::string problem = too_many(*cuts); !problem.empty())
      throw KeyError("strategy." + cuts->keys.front(), problem);
  });
  if (comm.max(cuts->is_cut_off ? 1 : 0) != 0)
    refuse_budget(fmt::format("while candidates were listed, {} by then",
                              comm.min(static_cast<std::int64_t>(cuts->candidates.size()))));
  return cuts;
}

}  // namespace

std::int64_t certain_bytes(const Cut& cut) {
  std::int64_t most = 0;
  for (std::uint32_t stage = 0; stage < cut.options.pipeline; ++stage)
    most = std::max(most, held_bytes(cut, device_state(cut, stage)) + loan_bytes(cut, stage).room);
  return most;
}

Searched search(const config::Table& table, const Job& job) {
  if (options_schema().open_keys(table).empty()) return {};
  const auto cuts = listed_cuts(table, job);
  const std::vector<Options>& candidates = cuts->candidates;
  const auto cut_of = [&](std::size_t i) {
    config::Diagnostics again;
    return make_cut(candidates[i], table, job, again);
  };
  const auto outlooks =
      job.evaluations.outlooks(candidates.size(), [&](std::size_t i) { return outlook(cut_of(i), job); });
  const auto simulate = [&](const std::vector<std::size_t>& some) {
    return job.evaluations.all(some.size(), [&](std::size_t i) { return plan_of(cut_of(some[i]), job).program; });
  };
  Fastest found = program::search::fastest(outlooks, simulate, {job.limits, &job.evaluations.comm()});
  const std::optional<std::size_t> taken = found.taken();
  if (!taken) refuse(outlooks, found, [&](std::size_t i) { return text_of(*cuts, candidates[i]); });
  Searched searched;
  searched.found = values_of(*cuts, candidates[*taken]);
  searched.is_timed = found.is_timed;
  searched.predicted = {{"all", found.time_of_taken()}};
  for (std::size_t i = 0; i < found.table.size(); ++i)
    found.table[i].candidate = text_of(*cuts, candidates[found.tried[i]]);
  searched.table = std::move(found.table);
  searched.report = {cuts->keys, std::move(found),
                     [cuts](std::size_t i) { return text_of(*cuts, cuts->candidates[i]); },
                     [cuts](std::size_t i) { return values_of(*cuts, cuts->candidates[i]); },
                     [cuts](std::size_t i, const std::vector<std::string>& some) {
                       return text_of(*cuts, cuts->candidates[i], &some);
                     }};
  return searched;
}

}  // namespace tessera::strategy::megatron
