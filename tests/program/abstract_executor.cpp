#include "abstract_executor.hpp"

#include <algorithm>
#include <random>

namespace tessera::program {

AbstractExecutor::AbstractExecutor(const Collective& collective, const Group& group, const machine::Machine& machine)
    : buffers(group.members.size()),
      received(group.members.size()),
      collective_(collective),
      group_(group),
      machine_(machine),
      algorithm_(*built_in_collectives().all().at(collective.algorithm)) {
  CollectiveCall call = make_call(collective_, group_, 0, machine_);
  for (call.rank = 0; call.rank < group.members.size(); ++call.rank) add_strands(call);
}

void AbstractExecutor::add_strands(CollectiveCall call) {
  const std::uint32_t strands = algorithm_.strands(call);
  for (call.strand = 0; call.strand < strands; ++call.strand)
    members_.push_back({call, algorithm_.steps(call), 0, false, {}});
}

std::vector<std::size_t> AbstractExecutor::elements(const Transfer& transfer) const {
  std::vector<std::size_t> indexes;
  const std::int64_t count = transfer.bytes / collective_.element.value();
  std::int64_t next = transfer.offset / collective_.element.value();
  const auto size = static_cast<std::uint32_t>(group_.members.size());
  if (!transfer.chunks.empty()) return elements_of(transfer.chunks);
  if (transfer.stride == 0) {
    for (std::int64_t i = 0; i < count; ++i) indexes.push_back(static_cast<std::size_t>(next + i));
    return indexes;
  }
  // Every stride-th chunk: walk over all chunks, and take those from the one at `offset` on.
  std::int64_t begin = 0;
  std::uint32_t until_next = 0;
  bool started = false;
  for (std::uint32_t chunk = 0; chunk < size; ++chunk) {
    const std::int64_t length = chunk_bytes(collective_.bytes, collective_.element, size, chunk) / collective_.element;
    started = started || begin == next;
    if (started && until_next-- == 0) {
      for (std::int64_t i = 0; i < length; ++i) indexes.push_back(static_cast<std::size_t>(begin + i));
      until_next = transfer.stride - 1;
    }
    begin += length;
  }
  return indexes;
}

std::vector<std::size_t> AbstractExecutor::elements_of(std::span<const std::uint32_t> chunks) const {
  std::vector<std::size_t> indexes;
  const auto size = static_cast<std::uint32_t>(group_.members.size());
  for (const std::uint32_t chunk : chunks) {
    std::int64_t begin = 0;
    const auto length = [&](std::uint32_t of) {
      return chunk_bytes(collective_.bytes, collective_.element, size, of) / collective_.element;
    };
    for (std::uint32_t before = 0; before < chunk; ++before) begin += length(before);
    for (std::int64_t i = 0; i < length(chunk); ++i) indexes.push_back(static_cast<std::size_t>(begin + i));
  }
  return indexes;
}

std::string AbstractExecutor::run(std::uint32_t seed) {
  std::string problem;
  begun_with_ = buffers;
  std::vector<Member*> active;
  for (Member& member : members_) {
    if (member.steps > 0) active.push_back(&member);
  }
  std::mt19937 random(seed);
  while (!active.empty() && problem.empty()) {
    std::shuffle(active.begin(), active.end(), random);
    bool moved = false;
    for (Member* member : active) moved = advance(*member, problem) || moved;
    if (!moved && problem.empty()) problem = "deadlock";
    std::erase_if(active, [](const Member* member) { return member->index == member->steps; });
  }
  if (!problem.empty()) return problem;
  for (const auto& [way, queue] : network_) {
    if (!queue.empty()) return "a message to member " + std::to_string(std::get<1>(way)) + " was never received";
  }
  return {};
}

bool AbstractExecutor::advance(Member& member, std::string& problem) {
  if (!member.posted) {
    post(member, problem);
    return true;
  }
  if (!all_here(member)) return false;
  take(member, problem);
  ++member.index;
  member.posted = false;
  return true;
}

void AbstractExecutor::post(Member& member, std::string& problem) {
  const std::uint32_t rank = member.call.rank;
  algorithm_.step(member.call, member.index, member.step);
  member.posted = true;
  std::int64_t reduced = 0;
  for (const Transfer& transfer : member.step.receives) reduced += transfer.add ? transfer.bytes : 0;
  if (reduced != member.step.reduce) problem = "the step reduces other bytes than it receives to add";
  for (const Transfer& send : member.step.sends) {
    if (send.peer >= member.call.size || send.peer == rank) problem = "a message to nobody";
    Message message{send.bytes, {}};
    const std::vector<std::size_t> indexes = elements(send);
    if (static_cast<std::int64_t>(indexes.size()) * collective_.element.value() != send.bytes)
      problem = "data of another size";
    for (const std::size_t i : indexes)
      message.data.push_back(buffers[rank].at(i) - (send.of_others ? begun_with_[rank].at(i) : 0));
    network_[{rank, send.peer, send.lane}].push_back(std::move(message));
    ++messages;
  }
}

bool AbstractExecutor::all_here(const Member& member) const {
  std::map<Way, std::size_t> wanted;
  for (const Transfer& receive : member.step.receives) ++wanted[{receive.peer, member.call.rank, receive.lane}];
  for (const auto& [way, count] : wanted) {
    const auto found = network_.find(way);
    if (found == network_.end() || found->second.size() < count) return false;
  }
  return true;
}

/// What all members began with.
std::uint64_t AbstractExecutor::sum_at(std::size_t index) const {
  std::uint64_t sum = 0;
  for (const Buffer& buffer : begun_with_) sum += buffer.at(index);
  return sum;
}

void AbstractExecutor::take(Member& member, std::string& problem) {
  const std::uint32_t rank = member.call.rank;
  const bool separate = collective_.kind == CollectiveKind::all_to_all;
  Buffer& target = separate ? received[rank] : buffers[rank];
  for (const Transfer& receive : member.step.receives) {
    std::deque<Message>& queue = network_[{receive.peer, rank, receive.lane}];
    const Message message = std::move(queue.front());
    queue.pop_front();
    const std::vector<std::size_t> indexes = elements(receive);
    if (message.bytes != receive.bytes || message.data.size() != indexes.size()) {
      problem = std::to_string(message.bytes) + " bytes sent, " + std::to_string(receive.bytes) + " expected";
      return;
    }
    for (std::size_t i = 0; i < indexes.size(); ++i) {
      std::uint64_t& element = target.at(indexes[i]);
      element = receive.add ? element + message.data[i] : message.data[i];
      if (receive.of_all) element = sum_at(indexes[i]);
    }
  }
}

}  // namespace tessera::program
