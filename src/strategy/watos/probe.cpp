#include "probe.hpp"

#include <algorithm>
#include <cmath>
#include <functional>

#include "tessera/base/error.hpp"

namespace tessera::strategy::watos {
namespace {

using machine::NodeId;

constexpr double sound_from = 0.95;
constexpr std::int64_t product_size = 4096;
constexpr Bytes message_size{64 << 20};  // so large that latencies do not count

/// The parts of 0 .. count-1 without which a program of all of them would run: halves are tried until single ones are
/// left.
class DeadParts {
 public:
  using Runs = std::function<bool(const std::vector<std::size_t>& parts)>;
  explicit DeadParts(Runs runs) : runs_(std::move(runs)) {}

  std::vector<std::size_t> among(const std::vector<std::size_t>& parts) {
    if (parts.empty() || runs_(parts)) return {};
    if (parts.size() == 1) return parts;
    const auto half = parts.begin() + static_cast<std::ptrdiff_t>(parts.size() / 2);
    std::vector<std::size_t> dead = among({parts.begin(), half});
    const std::vector<std::size_t> others = among({half, parts.end()});
    dead.insert(dead.end(), others.begin(), others.end());
    return dead;
  }

 private:
  Runs runs_;
};

std::vector<std::size_t> numbers_to(std::size_t count) {
  std::vector<std::size_t> all(count);
  for (std::size_t i = 0; i < count; ++i) all[i] = i;
  return all;
}

class Probe {
 public:
  explicit Probe(const Job& job) : job_(job), health_{std::vector<double>(job.machine.accelerators()), {}} {}

  Health all() {
    probe_dies();
    list_links();
    probe_links();
    return std::move(health_);
  }

 private:
  [[nodiscard]] program::Evaluation run(const program::Program& program) const {
    program::Evaluation found = job_.evaluations.one(program);
    if (!found.feasible) throw InfeasibleError("a probe of the wafer cannot run: " + found.reason);
    return found;
  }

  [[nodiscard]] program::Program with_dies(const std::vector<std::size_t>& dies) const {
    program::Program program = empty_program(job_);
    program::BlockBuilder builder(program, "probe");
    builder.compute(workload::gemm("probe", 1, product_size, product_size, product_size, job_.workload.datatype));
    const program::BlockId block = builder.done();
    for (const std::size_t die : dies) program.devices[die].streams = {block};
    return program;
  }

  void probe_dies() {
    std::vector<std::size_t> left = numbers_to(job_.machine.accelerators());
    DeadParts dead([&](const auto& parts) { return job_.evaluations.outlook(with_dies(parts)).feasible; });
    for (const std::size_t die : dead.among(left)) std::erase(left, die);
    const program::Evaluation found = run(with_dies(left));
    Time fastest = never;
    for (const std::size_t die : left) fastest = std::min(fastest, busy(found, static_cast<NodeId>(die)));
    for (const std::size_t die : left)
      health_.dies[die] = static_cast<double>(fastest) / static_cast<double>(busy(found, static_cast<NodeId>(die)));
  }
  [[nodiscard]] static Time busy(const program::Evaluation& found, NodeId die) {
    return found.busy_of(die, program::Activity::forward);
  }

  /// Of all neighbours on the grid, whatever is between them.
  void list_links() {
    for (NodeId from = 0; from < job_.machine.accelerators(); ++from) {
      const auto begin = job_.machine.network.first_link[from], end = job_.machine.network.first_link[from + 1];
      for (machine::LinkId link = begin; link < end; ++link) {
        const NodeId to = job_.machine.network.links[link].to;
        if (!job_.machine.computes(to) || !health_.alive(from) || !health_.alive(to)) continue;
        health_.links.push_back({from, to, 0});
        ids_.push_back(link);
      }
    }
  }

  /// Each sends one message over its link; a die receives one at most. Others would not know which one is late.
  [[nodiscard]] program::Program with_links(const std::vector<std::size_t>& links) const {
    program::Program program = empty_program(job_);
    const program::BlockId send = program::BlockBuilder(program, "send").send(0, message_size).done();
    program::BlockBuilder both_builder(program, "send and receive"), receive_builder(program, "receive");
    const program::BlockId both = both_builder.send(0, message_size).receive(1, message_size).done();
    const program::BlockId receive = receive_builder.receive(1, message_size).done();
    for (program::DeviceProgram& device : program.devices) device.peers = {program::no_device, program::no_device};
    for (const std::size_t link : links) {
      const ProbedLink& one = health_.links[link];
      program.devices[one.from].peers[0] = one.to;
      program.devices[one.to].peers[1] = one.from;
      program.ways.push_back({{one.from, one.to, 0}, {ids_[link]}});
    }
    for (program::DeviceProgram& device : program.devices) {
      const bool sends = device.peers[0] != program::no_device, receives = device.peers[1] != program::no_device;
      if (sends || receives) device.streams = {sends && receives ? both : sends ? send : receive};
    }
    return program;
  }

  /// So that each die sends over one of its links and receives over one.
  [[nodiscard]] std::vector<std::vector<std::size_t>> rounds() const {
    std::vector<std::vector<std::size_t>> all;
    std::vector<std::vector<bool>> sends, receives;
    for (std::size_t link = 0; link < health_.links.size(); ++link) {
      const ProbedLink& one = health_.links[link];
      std::size_t round = 0;
      while (round < all.size() && (sends[round][one.from] || receives[round][one.to])) ++round;
      if (round == all.size()) {
        all.emplace_back();
        sends.emplace_back(health_.dies.size());
        receives.emplace_back(health_.dies.size());
      }
      sends[round][one.from] = true;
      receives[round][one.to] = true;
      all[round].push_back(link);
    }
    return all;
  }

  void probe_links() {
    std::vector<Time> times(health_.links.size(), never);
    Time fastest = never;
    DeadParts dead([&](const auto& parts) { return job_.evaluations.outlook(with_links(parts)).feasible; });
    for (std::vector<std::size_t>& round : rounds()) {
      for (const std::size_t link : dead.among(round)) std::erase(round, link);
      if (round.empty()) continue;
      const program::Evaluation found = run(with_links(round));
      for (const std::size_t link : round) {
        times[link] = found.busy_of(health_.links[link].to, program::Activity::forward);
        fastest = std::min(fastest, times[link]);
      }
    }
    for (std::size_t link = 0; link < times.size(); ++link)
      if (times[link] != never)
        health_.links[link].share = static_cast<double>(fastest) / static_cast<double>(times[link]);
  }

  const Job& job_;
  Health health_;
  std::vector<machine::LinkId> ids_;  // by link of health_
};

}  // namespace

const char* name_of(Condition state) {
  switch (state) {
    case Condition::dead:
      return "dead";
    case Condition::slow:
      return "slow";
    default:
      return "sound";
  }
}

Condition condition_of(double share) {
  return share <= 0 ? Condition::dead : share < sound_from ? Condition::slow : Condition::sound;
}

namespace {

/// A share to a tenth, upwards: a die that is a little slower than another one is as slow as that.
double tenths_of(double share) { return std::ceil(share * 10 - 0.01) / 10; }

}  // namespace

std::vector<double> slow_shares(const Health& health) {
  std::vector<double> found;
  for (const double share : health.dies)
    if (condition_of(share) == Condition::slow) found.push_back(tenths_of(share));
  std::ranges::sort(found, std::greater<>());
  found.erase(std::ranges::unique(found).begin(), found.end());
  return found;
}

Health without_slow(const Health& health, double share) {
  Health left = health;
  for (double& die : left.dies)
    if (condition_of(die) == Condition::slow && tenths_of(die) <= share) die = 0;
  return left;
}

std::int64_t Health::alive() const {
  return std::ranges::count_if(dies, [](double share) { return share > 0; });
}

double Health::share_of(NodeId from, NodeId to) const {
  const auto first = std::ranges::partition_point(links, [&](const ProbedLink& link) { return link.from < from; });
  const auto found =
      std::find_if(first, links.end(), [&](const ProbedLink& link) { return link.from != from || link.to == to; });
  return found == links.end() || found->from != from ? 0 : found->share;
}

bool Health::is_sound() const {
  return std::ranges::all_of(dies, [](double share) { return condition_of(share) == Condition::sound; }) &&
         std::ranges::all_of(links,
                             [](const ProbedLink& link) { return condition_of(link.share) == Condition::sound; });
}

Health probed(const Job& job) { return Probe(job).all(); }

DataTable health_table(const Health& health, const machine::Machine& machine) {
  std::vector<std::string> part, state;
  std::vector<double> share;
  const auto add = [&](std::string name, double value) {
    if (condition_of(value) == Condition::sound) return;
    part.push_back(std::move(name));
    state.emplace_back(name_of(condition_of(value)));
    share.push_back(value);
  };
  for (NodeId die = 0; die < health.dies.size(); ++die) add(machine.node_name(die), health.dies[die]);
  for (const ProbedLink& link : health.links)
    add(machine.node_name(link.from) + " to " + machine.node_name(link.to), link.share);
  DataTable table{"health", "Dies and links that probes found dead or slow, one a row.", {}};
  table.text("part", "a die, or a link in one direction", part).text("state", "dead, or slow: below 95 %", state);
  table.number("share", "1", "of the speed of the fastest of its kind", share);
  return table;
}

}  // namespace tessera::strategy::watos
