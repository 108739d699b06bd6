#include <fmt/core.h>

#include "problems.hpp"
#include "tessera/base/config.hpp"

namespace tessera::program {

void Problems::append_to(std::vector<std::string>& all) {
  for (std::string& text : texts_) all.push_back(std::move(text));
  if (more_ > 0) all.push_back(fmt::format("and {} more like these", more_));
  texts_.clear();
}

std::string group_text(const Group& group) {
  const std::vector<DeviceId>& members = group.members;
  const auto step = [&](std::size_t i) { return std::int64_t{members[i]} - std::int64_t{members[i - 1]}; };
  bool even = members.size() > 3;
  for (std::size_t i = 2; i < members.size() && even; ++i) even = step(i) == step(1);
  if (even && step(1) == 1) return fmt::format("[{}..{}]", members.front(), members.back());
  if (even) return fmt::format("[{}, {}, .. {}]", members[0], members[1], members.back());
  std::string text;
  for (std::size_t i = 0; i < members.size(); ++i) {
    if (i == 8 && members.size() > 10) return fmt::format("[{}, .. {}] of {}", text, members.back(), members.size());
    text += fmt::format("{}{}", i == 0 ? "" : ", ", members[i]);
  }
  return "[" + text + "]";
}

std::string bytes_text(std::int64_t bytes) { return config::format_quantity(bytes, config::Unit::bytes); }

std::string times_text(std::int64_t count) { return count == 1 ? "once" : fmt::format("{} times", count); }

std::vector<std::string> check_program(const Program& program, const machine::Machine& machine) {
  std::vector<std::string> all;
  check_code(program).append_to(all);
  if (!all.empty()) return all;
  ProgramTraffic traffic(program);
  check_groups(program, machine).append_to(all);
  check_bindings(program, machine, traffic).append_to(all);
  if (!all.empty()) return all;
  check_channels(program, traffic).append_to(all);
  check_events(program, traffic).append_to(all);
  check_collectives(program, machine, traffic).append_to(all);
  check_kernels(program, traffic).append_to(all);
  check_memory(program).append_to(all);
  check_ways(program, machine, traffic).append_to(all);
  return all;
}

}  // namespace tessera::program
