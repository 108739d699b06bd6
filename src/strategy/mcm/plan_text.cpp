#include "plan_text.hpp"

#include <fmt/core.h>

#include <map>
#include <string_view>

#include "tessera/base/config.hpp"
#include "tessera/base/error.hpp"
#include "verifier.hpp"

namespace tessera::strategy::mcm {
namespace {

constexpr std::string_view through = "..";
constexpr ChipId nowhere = max_chips;

bool is_plain(const std::string& name) {
  return !name.empty() && name.front() != '#' && name.front() != ' ' && name.back() != ' ' && name.front() != '.' &&
         name.back() != '.' && name.find(through) == std::string::npos && name.find(',') == std::string::npos;
}

std::string trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(' ');
  if (first == std::string_view::npos) return {};
  return std::string(text.substr(first, text.find_last_not_of(' ') - first + 1));
}

/// Parts between separators, trimmed.
std::vector<std::string> parts_of(std::string_view text, std::string_view separator) {
  std::vector<std::string> parts;
  for (std::size_t begin = 0;;) {
    const std::size_t end = text.find(separator, begin);
    parts.push_back(trimmed(text.substr(begin, end == std::string_view::npos ? end : end - begin)));
    if (end == std::string_view::npos) return parts;
    begin = end + separator.size();
  }
}

/// Puts the nodes of lines on chips.
class PartitionReader {
 public:
  explicit PartitionReader(const Package& package) : package_(package), names_(package) {
    for (NodeId node = 0; node < names_.all().size(); ++node) by_name_[names_.of(node)] = node;
    partition_.assign(names_.all().size(), nowhere);
  }

  Partition read(const std::vector<std::string>& lines) {
    if (lines.size() > package_.chips())
      throw InputError(fmt::format("a partition over {} chips, and there are {}", lines.size(), package_.chips()));
    for (std::size_t chip = 0; chip < lines.size(); ++chip) {
      if (trimmed(lines[chip]).empty()) continue;  // a chip that is skipped: the verifier's matter
      for (const std::string& run : parts_of(lines[chip], ",")) add(run, static_cast<ChipId>(chip));
    }
    for (NodeId node = 0; node < partition_.size(); ++node) {
      if (partition_[node] == nowhere)
        throw InputError(fmt::format("the partition leaves node \"{}\" of the graph out", names_.of(node)));
    }
    if (const auto violation = find_violation(package_.reduced.problem, partition_,
                                              [this](NodeId node) { return "\"" + names_.of(node) + "\""; }))
      throw InputError("the partition is not valid: " + *violation);
    return std::move(partition_);
  }

 private:
  void add(const std::string& run, ChipId chip) {
    const std::vector<std::string> ends = parts_of(run, through);
    if (ends.size() > 2) throw InputError(fmt::format("\"{}\": expected a node or a run \"first..last\"", run));
    const NodeId first = node_of(ends.front(), chip), last = node_of(ends.back(), chip);
    if (last < first)
      throw InputError(fmt::format("\"{}\": \"{}\" stands behind \"{}\" in the graph", run, ends.front(), ends.back()));
    for (NodeId node = first; node <= last; ++node) {
      if (partition_[node] != nowhere)
        throw InputError(
            fmt::format("node \"{}\" is on chip {} and on chip {}", names_.of(node), partition_[node], chip));
      partition_[node] = chip;
    }
  }
  NodeId node_of(const std::string& name, ChipId chip) const {
    const auto found = by_name_.find(name);
    if (found != by_name_.end()) return found->second;
    throw InputError(fmt::format("the partition puts \"{}\" on chip {}, and the graph has no such node to place{}",
                                 name, chip, config::suggestion(name, names_.all())));
  }

  const Package& package_;
  NodeNames names_;
  std::map<std::string, NodeId> by_name_;
  Partition partition_;
};

}  // namespace

NodeNames::NodeNames(const Package& package) {
  std::map<std::string, int> times;
  for (const workload::GraphNode& node : package.graph.nodes) ++times[node.name];
  for (const workload::GraphNodeId node : package.reduced.node_of) {
    const std::string& name = package.graph.nodes[node].name;
    names_.push_back(times[name] == 1 && is_plain(name) ? name : "#" + std::to_string(node));
  }
}

std::vector<std::string> partition_text(const Package& package, const Partition& partition) {
  const NodeNames names(package);
  std::vector<std::string> lines;
  for (NodeId first = 0; first < partition.size();) {
    NodeId last = first;
    while (last + 1 < partition.size() && partition[last + 1] == partition[first]) ++last;
    if (lines.size() <= partition[first]) lines.resize(partition[first] + std::size_t{1});
    std::string& line = lines[partition[first]];
    line += (line.empty() ? "" : ", ") + names.of(first);
    if (last > first) line += std::string(through) + names.of(last);
    first = last + 1;
  }
  return lines;
}

Partition read_partition(const Package& package, const std::vector<std::string>& lines) {
  return PartitionReader(package).read(lines);
}

}  // namespace tessera::strategy::mcm
