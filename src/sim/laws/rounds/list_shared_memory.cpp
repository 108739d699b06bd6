// What a device's streams and messages move through its memory, where the bandwidth is shared.
#include <algorithm>

#include "sim/laws/rounds/list_parts.hpp"

namespace tessera::sim {
namespace {

void list_server(StateList& list, MemoryServer& server) {
  auto& [line, busy, serving] = server.state();
  list.same(line.size());
  list.same(serving);
  for (auto& [of, bytes, came, is_new] : line) {
    const auto& [kind, key] = of;
    list.same(kind);
    list.same(key);
    list.same(bytes);
    list.same(is_new);
    list.time(came);
  }
  const bool is_over = line.empty() && busy.end(server.rate()) < list.now();
  list.same(is_over);
  if (!is_over) list_busy(list, busy);
}

void list_operators(StateList& list, OperatorLine& operators) {
  auto& [jobs, under_way, moving, ended, job_began, ends] = operators.state();
  list.same(jobs.size());
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    const auto& [stream, op, count, block, instruction, micro_batch] = jobs[i];  // the last one: RecordedRound
    for (const std::uint32_t word : {stream, op, count, block, instruction}) list.same(word);
  }
  if (jobs.empty()) return;
  list.same(under_way);
  list.same(moving);
  list.same(ended);
  list.time(job_began);
  list.time(ends);
}

void list_outgoing(StateList& list, std::vector<SharedMemory::OutLine>& lines, program::DeviceId self) {
  for (auto& [key, messages] : lines) {
    list.same(messages.size());
    if (!messages.empty()) list.same(key);
    for (std::size_t i = 0; i < messages.size(); ++i) {
      list.same(messages[i].port);
      list.same(messages[i].last_begins > 0);
      list.time(messages[i].last_begins);
      list_own_message(list, messages[i].message, self);
    }
  }
}

void list_incoming(StateList& list, std::vector<SharedMemory::InLine>& lines, program::DeviceId self) {
  for (auto& [key, messages, writing, since] : lines) {
    list.same(messages.size());
    if (messages.empty()) continue;
    list.same(key);
    list.same(writing);
    list.time(since);
    for (std::size_t i = 0; i < messages.size(); ++i) {
      auto& [name, waited_until, bytes, told, first, last] = messages[i];
      list_name(list, name, self, name.sender, 0);
      list.same(bytes);
      list.same(told);
      list.time(waited_until);
      list.time(first);
      list.time(last);
    }
  }
}

}  // namespace

void list_shared_memory(StateList& list, SharedMemory& memory, program::DeviceId self) {
  list_server(list, memory.server());
  list_operators(list, memory.operators());
  auto& [out, in, told, happened] = memory.messages();
  list_outgoing(list, out, self);
  list_incoming(list, in, self);
  list.same(told.size());
  for (auto& [name, generation, times] : told) {
    list_name(list, name, self, name.sender, generation);
    list_times(list, times);
  }
  if (!happened.empty()) list.refuse();
}

}  // namespace tessera::sim
