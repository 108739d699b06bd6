// Chakra execution traces, one a rank: their nodes as a script on a machine of ours.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "../foreign_files.hpp"
#include "chakra_steps.hpp"
#include "machine.hpp"

namespace tessera::experiment::importing {
namespace {

bool recognises_traces(const Sources& files) {
  return std::ranges::all_of(files, [](const SourceFile& file) {
    return file.path.ends_with(".et") || kind_of_foreign_file(file.text, file.path) == "a Chakra execution trace";
  });
}

/// Ranks 0 to N - 1, each once.
void check_ranks(const std::vector<ChakraTrace>& traces, config::Diagnostics& diagnostics) {
  std::set<std::int64_t> ranks;
  for (const ChakraTrace& trace : traces)
    if (!ranks.insert(trace.rank).second)
      diagnostics.error({trace.file, 0, 0}, fmt::format("another trace is of rank {} as well", trace.rank));
  const auto count = static_cast<std::int64_t>(traces.size());
  for (std::int64_t rank = 0; rank < count && diagnostics.ok(); ++rank)
    if (!ranks.contains(rank))
      diagnostics.error(
          {traces.front().file, 0, 0},
          fmt::format("{} traces are given, and none is of rank {}: all ranks of a job are needed", count, rank));
}

ChakraJob job_of(const std::vector<ChakraTrace>& traces) {
  ChakraJob job;
  job.ranks = static_cast<std::int64_t>(traces.size());
  std::set<std::int64_t> tags;
  for (const ChakraTrace& trace : traces) {
    std::set<std::string> used;
    for (const ChakraNode& node : trace.nodes) {
      if (node.type == ChakraType::collective) used.insert(process_group_of(node));
      if (node.type == ChakraType::send || node.type == ChakraType::receive)
        tags.insert(number_in(node, "comm_tag", 0));
    }
    for (const std::string& group : used) job.groups[group].push_back(trace.rank);
  }
  for (const std::int64_t tag : tags) job.channels.emplace(tag, static_cast<std::int64_t>(job.channels.size()));
  return job;
}

/// "0-3, 8": in the notation of scripts.
std::string ranges_of(const std::vector<std::int64_t>& numbers) {
  std::string text;
  for (std::size_t begin = 0; begin < numbers.size();) {
    std::size_t end = begin + 1;
    while (end < numbers.size() && numbers[end] == numbers[end - 1] + 1) ++end;
    text += text.empty() ? "" : ", ";
    text +=
        end - begin == 1 ? fmt::format("{}", numbers[begin]) : fmt::format("{}-{}", numbers[begin], numbers[end - 1]);
    begin = end;
  }
  return text;
}

/// What takes no time: metadata, nodes that do nothing, and hosts' where the request does without them.
bool is_done_at_once(const ChakraNode& node) {
  if (node.type == ChakraType::metadata || node.type == ChakraType::invalid) return true;
  return node.type == ChakraType::compute && number_in(node, "num_ops", 0) == 0 && node.microseconds == 0;
}
bool is_done_at_once_or_host(const ChakraNode& node) {
  return is_done_at_once(node) || (node.type == ChakraType::compute && number_in(node, "is_cpu_op", 0) != 0);
}

using Steps = std::vector<std::string>;

std::vector<Steps> all_steps(const std::vector<ChakraTrace>& traces,
                             const std::vector<std::vector<OrderedNode>>& orders, const ChakraJob& job,
                             config::Diagnostics& diagnostics) {
  std::vector<Steps> all;
  for (std::size_t i = 0; i < traces.size(); ++i) all.push_back(steps_of(traces[i], orders[i], job, diagnostics));
  return all;
}

/// Ranks that do the same are said once.
void put_steps(const std::vector<ChakraTrace>& traces, const std::vector<Steps>& steps, Draft& draft) {
  std::map<Steps, std::vector<std::int64_t>> alike;
  for (std::size_t i = 0; i < traces.size(); ++i) alike[steps[i]].push_back(traces[i].rank);
  std::vector<std::pair<std::vector<std::int64_t>, const Steps*>> classes;
  for (auto& [code, ranks] : alike) {
    std::ranges::sort(ranks);
    classes.emplace_back(ranks, &code);
  }
  std::ranges::sort(classes);
  DraftList list{"strategy", "step", {}};
  for (const auto& [ranks, code] : classes)
    for (const std::string& step : *code)
      list.items.push_back(fmt::format("devices = \"{}\", {}", ranges_of(ranks), step));
  draft.lists.push_back(std::move(list));
}

void put_groups(const ChakraJob& job, Draft& draft) {
  DraftList list{"strategy", "group", {}};
  for (const auto& [group, ranks] : job.groups) {
    std::vector<std::int64_t> members = ranks;
    std::ranges::sort(members);
    if (members.size() > 1)
      list.items.push_back(fmt::format("name = {}, devices = \"{}\"", quoted(group_name(group)), ranges_of(members)));
  }
  if (!list.items.empty()) draft.lists.push_back(std::move(list));
}

void read_traces(const ImportRequest& request, const Sources& files, Draft& draft, config::Diagnostics& diagnostics) {
  std::vector<ChakraTrace> traces;
  for (const SourceFile& file : files) traces.push_back(read_trace(file, diagnostics));
  if (diagnostics.ok()) check_ranks(traces, diagnostics);
  if (!diagnostics.ok()) return;
  const bool skips_hosts = std::ranges::find(request.without, "is_cpu_op") != request.without.end();
  std::vector<std::vector<OrderedNode>> orders;
  for (const ChakraTrace& trace : traces)
    orders.push_back(in_order(trace, skips_hosts ? is_done_at_once_or_host : is_done_at_once, diagnostics));
  ChakraJob job = job_of(traces);
  const std::string name = std::filesystem::path(files.front().path).stem().stem().string();
  draft.title = name;
  const ChosenMachine machine =
      choose_machine(request, {{files.front().path, ""}}, {0, 0, job.ranks}, draft, diagnostics);
  if (!machine.name.empty() && machine.devices < job.ranks)
    diagnostics.error({"--machine", 0, 0}, fmt::format("machine {} has {} devices, the job {} ranks", machine.name,
                                                       machine.devices, job.ranks));
  put(draft, "workload.datatype", std::string("fp16"), "a trace says no datatype: that of num_ops, an assumption");
  put(draft, "strategy.name", std::string("script"));
  put_groups(job, draft);
  // Partners by their distance, where that makes all ranks alike.
  job.by_shift = true;
  std::vector<Steps> steps = all_steps(traces, orders, job, diagnostics);
  if (std::ranges::any_of(steps, [&](const Steps& one) { return one != steps.front(); })) {
    job.by_shift = false;
    config::Diagnostics said_already;
    steps = all_steps(traces, orders, job, said_already);
  }
  put_steps(traces, steps, draft);
  if (skips_hosts) draft.remarks.emplace_back("Left out on request: operations of hosts (is_cpu_op).");
}

}  // namespace

ImportFormat chakra() {
  return {"chakra", "Chakra execution traces, NAME.RANK.et of all ranks, or a folder of them", recognises_traces,
          read_traces};
}

}  // namespace tessera::experiment::importing
