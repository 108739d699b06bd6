#include "chakra_steps.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <tuple>

namespace tessera::experiment::importing {
namespace {

constexpr std::size_t most_streams = 64, most_events = 1000;

/// CollectiveCommType of the schema. `whole`: a member hands over a part of the buffer, and its size is the part's.
struct ChakraCollective {
  std::int64_t type;
  const char *theirs, *ours;
  bool is_part = false;
};
// Sizes as ASTRA-sim takes them (astra-sim/system/astraccl/native_collectives/collective_algorithm/Ring.cc): that of an
// all-gather is what each member has before it. A barrier is an all-reduce of one number, as PyTorch's with NCCL is.
constexpr std::array chakra_collectives{ChakraCollective{0, "ALL_REDUCE", "all-reduce"},
                                        ChakraCollective{1, "REDUCE", ""},
                                        ChakraCollective{2, "ALL_GATHER", "all-gather", true},
                                        ChakraCollective{3, "GATHER", ""},
                                        ChakraCollective{4, "SCATTER", ""},
                                        ChakraCollective{5, "BROADCAST", "broadcast"},
                                        ChakraCollective{6, "ALL_TO_ALL", "all-to-all"},
                                        ChakraCollective{7, "REDUCE_SCATTER", "reduce-scatter"},
                                        ChakraCollective{8, "REDUCE_SCATTER_BLOCK", "reduce-scatter"},
                                        ChakraCollective{9, "BARRIER", "all-reduce"}};

class StepWriter {
 public:
  StepWriter(const ChakraTrace& trace, const std::vector<OrderedNode>& order, const ChakraJob& job,
             config::Diagnostics& diagnostics)
      : trace_(trace), order_(order), job_(job), diagnostics_(diagnostics) {}

  std::vector<std::string> steps() {
    computes_ =
        std::ranges::any_of(order_, [](const OrderedNode& one) { return one.node->type == ChakraType::compute; });
    for (const OrderedNode& one : order_) streams_.push_back(stream_of(*one.node));
    find_signals();
    for (std::size_t i = 0; i < order_.size(); ++i) write(i);
    return std::move(steps_);
  }

 private:
  /// What a stream is for: 0 computes, 1 a process group, 2 messages to a rank, 3 messages from one.
  using Purpose = std::tuple<int, std::string, std::int64_t>;

  std::size_t stream_of(const ChakraNode& node) {
    Purpose purpose{0, "", 0};
    if (node.type == ChakraType::collective) purpose = {1, process_group_of(node), 0};
    if (node.type == ChakraType::send) purpose = {2, "", number_in(node, "comm_dst", -1)};
    if (node.type == ChakraType::receive) purpose = {3, "", number_in(node, "comm_src", -1)};
    if (std::get<0>(purpose) == 0) return 0;
    // Stream 0 is the one whose time counts: it computes, or is the first one where nothing does.
    const auto [found, fresh] = numbers_.try_emplace(purpose, numbers_.size() + (computes_ ? 1 : 0));
    if (fresh && found->second == most_streams)
      diagnostics_.error(
          {trace_.file, 0, 0},
          fmt::format("more than {} process groups and partners of messages: each needs a stream", most_streams - 1));
    return found->second;
  }

  /// Of each pair of streams, which nodes of one signal the other: those that a node there waits for, but for what an
  /// earlier node of that stream has waited for.
  void find_signals() {
    signals_.resize(order_.size());
    waits_.resize(order_.size());
    std::map<std::pair<std::size_t, std::size_t>, std::size_t> known;  // last place behind which the stream is
    for (std::size_t i = 0; i < order_.size(); ++i) {
      std::map<std::size_t, std::size_t> last;  // by stream
      for (const std::size_t other : order_[i].after)
        if (streams_[other] != streams_[i]) last[streams_[other]] = other;
      for (const auto& [stream, other] : last) {
        const std::pair pair{stream, streams_[i]};
        const auto before = known.find(pair);
        if (before != known.end() && before->second >= other) continue;
        known[pair] = other;
        const std::size_t event = events_.try_emplace(pair, events_.size()).first->second;
        signals_[other].push_back(event);
        waits_[i].push_back(event);
      }
    }
    if (events_.size() > most_events)
      diagnostics_.error({trace_.file, 0, 0},
                         fmt::format("more than {} pairs of streams wait for each other", most_events));
  }

  void write(std::size_t i) {
    const ChakraNode& node = *order_[i].node;
    for (const std::size_t event : waits_[i]) add(i, fmt::format("op = \"wait\", event = {}", event));
    switch (node.type) {
      case ChakraType::compute:
        compute(i, node);
        break;
      case ChakraType::collective:
        collective(i, node);
        break;
      case ChakraType::send:
      case ChakraType::receive:
        message(i, node);
        break;
      default:
        refuse(node, "memory of another device: not modelled");
    }
    if (signals_[i].empty()) return;
    if (node.type == ChakraType::send) add(i, "op = \"wait-sends\"");
    for (const std::size_t event : signals_[i]) add(i, fmt::format("op = \"signal\", event = {}", event));
  }

  void add(std::size_t i, const std::string& step) {
    steps_.push_back(streams_[i] == 0 ? step : fmt::format("{}, stream = {}", step, streams_[i]));
  }

  void compute(std::size_t i, const ChakraNode& node) {
    const std::int64_t operations = number_in(node, "num_ops", 0), bytes = number_in(node, "tensor_size", 0);
    std::string step = "op = \"compute\"";
    if (number_in(node, "is_cpu_op", 0) != 0)
      return refuse(node,
                    "an operation of the host (is_cpu_op): not modelled, --without is_cpu_op leaves all of them out");
    if (operations > 0)
      step += fmt::format(", flops = {}{}", operations,
                          bytes > 0 ? fmt::format(", read = \"{} B\", write = \"0 B\"", bytes) : "");
    else
      step += fmt::format(", time = \"{} us\"", node.microseconds);
    add(i, step + ", label = " + quoted(node.name));
  }

  void collective(std::size_t i, const ChakraNode& node) {
    const std::int64_t type = number_in(node, "comm_type", -1);
    const auto found = std::ranges::find(chakra_collectives, type, &ChakraCollective::type);
    if (found == chakra_collectives.end())
      return refuse(node, fmt::format("a collective of type {}, known: 0 to 9", type));
    if (*found->ours == '\0')
      return refuse(
          node,
          fmt::format(
              "{}: not modelled, collectives that are: all-reduce, all-gather, reduce-scatter, all-to-all, broadcast",
              found->theirs));
    const auto dimensions = node.attributes.find("involved_dim");
    if (dimensions != node.attributes.end()) {
      const auto* involved = std::get_if<std::vector<bool>>(&dimensions->second);
      if (involved != nullptr && std::ranges::find(*involved, false) != involved->end() &&
          !node.attributes.contains("pg_name"))
        return refuse(
            node, "involved_dim leaves out dimensions of ASTRA-sim's network, and pg_name says no group: not modelled");
    }
    const std::string group = process_group_of(node);
    const auto members = static_cast<std::int64_t>(job_.groups.at(group).size());
    std::int64_t bytes = number_in(node, "comm_size", 0);
    std::int64_t whole = bytes;
    if (type == 9) bytes = whole = 4;
    if (bytes <= 0) return refuse(node, "a collective of no bytes (comm_size)");
    if (found->is_part && __builtin_mul_overflow(bytes, members, &whole))
      return refuse(node, "a collective of more bytes than are counted");
    if (members == 1) return add(i, "op = \"wait-sends\"");  // alone: nothing is due, and order is kept
    // Sizes are in bytes: an element of one byte cuts them as evenly as they can be cut.
    const std::int64_t element = whole % 4 == 0 ? 4 : whole % 2 == 0 ? 2 : 1;
    std::string step = fmt::format("op = \"{}\", group = {}, bytes = \"{} B\", element = \"{} B\"", found->ours,
                                   quoted(group_name(group)), whole, element);
    if (type == 5) step += fmt::format(", root = {}", number_in(node, "root", 0));
    add(i, step + ", label = " + quoted(node.name));
  }

  void message(std::size_t i, const ChakraNode& node) {
    const bool sends = node.type == ChakraType::send;
    const char* key = sends ? "comm_dst" : "comm_src";
    const std::int64_t peer = number_in(node, key, -1);
    const std::int64_t bytes = number_in(node, "comm_size", number_in(node, "tensor_size", 0));
    if (peer < 0 || peer >= job_.ranks || peer == trace_.rank)
      return refuse(node, fmt::format("{} is {}, expected another rank, 0 to {}", key,
                                      peer < 0 ? "missing" : std::to_string(peer), job_.ranks - 1));
    if (bytes <= 0) return refuse(node, "a message of no bytes (comm_size)");
    const std::int64_t shift = ((peer - trace_.rank) % job_.ranks + job_.ranks) % job_.ranks;
    const std::string partner = job_.by_shift ? fmt::format("shift = {}", shift) : fmt::format("peer = {}", peer);
    const std::int64_t channel = job_.channels.at(number_in(node, "comm_tag", 0));
    add(i, fmt::format("op = \"{}\", {}, bytes = \"{} B\"{}, label = {}", sends ? "send" : "receive", partner, bytes,
                       channel > 0 ? fmt::format(", channel = {}", channel) : "", quoted(node.name)));
  }

  void refuse(const ChakraNode& node, const std::string& what) {
    diagnostics_.error({trace_.file, 0, 0},
                       fmt::format("node {} \"{}\" ({}): {}", node.id, node.name, name_of(node.type), what));
  }

  const ChakraTrace& trace_;
  const std::vector<OrderedNode>& order_;
  const ChakraJob& job_;
  config::Diagnostics& diagnostics_;
  bool computes_ = false;
  std::map<Purpose, std::size_t> numbers_;
  std::vector<std::size_t> streams_;                                   ///< of each node
  std::map<std::pair<std::size_t, std::size_t>, std::size_t> events_;  ///< from stream to stream
  std::vector<std::vector<std::size_t>> signals_, waits_;              ///< events of each node
  std::vector<std::string> steps_;
};

}  // namespace

std::string group_name(const std::string& process_group) {
  return process_group.empty() ? "ranks" : "group " + process_group;
}

std::string process_group_of(const ChakraNode& node) {
  const auto found = node.attributes.find("pg_name");
  if (found == node.attributes.end()) return {};
  if (const auto* text = std::get_if<std::string>(&found->second)) return *text;
  return std::to_string(number_in(node, "pg_name", 0));
}

std::vector<std::string> steps_of(const ChakraTrace& trace, const std::vector<OrderedNode>& order, const ChakraJob& job,
                                  config::Diagnostics& diagnostics) {
  return StepWriter(trace, order, job, diagnostics).steps();
}

}  // namespace tessera::experiment::importing
