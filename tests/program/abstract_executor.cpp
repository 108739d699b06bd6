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
      algorithm_(*collective_algorithms().at(collective.algorithm)),
      members_(group.members.size()) {}

CollectiveCall AbstractExecutor::call(std::uint32_t rank) const {
  return {&collective_, rank, static_cast<std::uint32_t>(group_.members.size()), &group_, &machine_};
}

std::vector<std::size_t> AbstractExecutor::elements(const Transfer& transfer) const {
  std::vector<std::size_t> indexes;
  const std::int64_t count = transfer.bytes / collective_.element;
  std::int64_t next = transfer.offset / collective_.element;
  const auto size = static_cast<std::uint32_t>(group_.members.size());
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

std::string AbstractExecutor::run(std::uint32_t seed) {
  std::string problem;
  std::vector<std::uint32_t> active;
  for (std::uint32_t rank = 0; rank < members_.size(); ++rank) {
    members_[rank].steps = algorithm_.steps(call(rank));
    if (members_[rank].steps > 0) active.push_back(rank);
  }
  std::mt19937 random(seed);
  while (!active.empty() && problem.empty()) {
    std::shuffle(active.begin(), active.end(), random);
    bool moved = false;
    for (const std::uint32_t rank : active) moved = advance(rank, problem) || moved;
    if (!moved && problem.empty()) problem = "deadlock";
    std::erase_if(active, [&](std::uint32_t rank) { return members_[rank].index == members_[rank].steps; });
  }
  if (!problem.empty()) return problem;
  for (const auto& [way, queue] : network_) {
    if (!queue.empty()) return "a message to member " + std::to_string(std::get<1>(way)) + " was never received";
  }
  return {};
}

bool AbstractExecutor::advance(std::uint32_t rank, std::string& problem) {
  Member& member = members_[rank];
  if (!member.posted) {
    post(rank, problem);
    return true;
  }
  if (!all_here(rank)) return false;
  take(rank, problem);
  ++member.index;
  member.posted = false;
  return true;
}

void AbstractExecutor::post(std::uint32_t rank, std::string& problem) {
  Member& member = members_[rank];
  algorithm_.step(call(rank), member.index, member.step);
  member.posted = true;
  std::int64_t reduced = 0;
  for (const Transfer& transfer : member.step.receives) reduced += transfer.add ? transfer.bytes : 0;
  if (reduced != member.step.reduce) problem = "the step reduces other bytes than it receives to add";
  for (const Transfer& send : member.step.sends) {
    if (send.peer >= members_.size() || send.peer == rank) problem = "a message to nobody";
    Message message{send.bytes, {}};
    const std::vector<std::size_t> indexes = elements(send);
    if (static_cast<std::int64_t>(indexes.size()) * collective_.element != send.bytes) problem = "data of another size";
    for (const std::size_t i : indexes) message.data.push_back(buffers[rank].at(i));
    network_[{rank, send.peer, send.lane}].push_back(std::move(message));
    ++messages;
  }
}

bool AbstractExecutor::all_here(std::uint32_t rank) const {
  std::map<Way, std::size_t> wanted;
  for (const Transfer& receive : members_[rank].step.receives) ++wanted[{receive.peer, rank, receive.lane}];
  for (const auto& [way, count] : wanted) {
    const auto found = network_.find(way);
    if (found == network_.end() || found->second.size() < count) return false;
  }
  return true;
}

void AbstractExecutor::take(std::uint32_t rank, std::string& problem) {
  const bool separate = collective_.kind == CollectiveKind::all_to_all;
  Buffer& target = separate ? received[rank] : buffers[rank];
  for (const Transfer& receive : members_[rank].step.receives) {
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
    }
  }
}

}  // namespace tessera::program
