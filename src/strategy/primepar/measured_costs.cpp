#include "measured_costs.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "../empty_program.hpp"
#include "device_order.hpp"
#include "tessera/base/error.hpp"

namespace tessera::strategy::primepar {
namespace {

constexpr std::int64_t small_size = 1 << 20, large_size = 64 << 20;  // B

void add_group(program::Program& program, std::vector<program::DeviceId> members, program::BlockId block) {
  for (const program::DeviceId member : members) {
    program.devices[member].streams = {block};
    program.devices[member].groups = {static_cast<program::GroupId>(program.groups.size())};
  }
  program.groups.push_back({std::move(members)});
}

/// `what` says all of the program that the machine does not.
template <class Write>
Time measured(const Job& job, const std::string& what, const Write& write) {
  const auto measure = [&] {
    job.go_on();
    program::Program program = empty_program(job);
    write(program);
    const program::Evaluation evaluation = job.evaluator.evaluate(program);
    if (!evaluation.feasible) throw InfeasibleError("a part of an operator alone cannot run: " + evaluation.reason);
    return evaluation.time;
  };
  return job.measured.time(what, measure);
}

/// "0,1|2,3", as numbered by the machine.
std::string text_of(const GroupPattern& groups, const std::vector<int>& order) {
  std::vector<std::string> texts;
  for (const std::vector<int>& group : groups) {
    std::vector<int> members;
    for (const int member : group) members.push_back(order[static_cast<std::size_t>(member)]);
    texts.push_back(fmt::format("{}", fmt::join(members, ",")));
  }
  return fmt::format("{}", fmt::join(texts, "|"));
}

GroupCosts copy_costs(const Job& job, program::CopyKind kind, bool near_memory) {
  const std::string name = std::string(program::name_of(kind)) + (near_memory ? " near memory" : " by a kernel");
  return {job, name, [=](program::BlockBuilder& builder, std::int64_t bytes) {
            builder.kernel({program::CopyKernel{bytes, kind, near_memory}, 0, 0, 0});
          }};
}

}  // namespace

GroupCosts::GroupCosts(const Job& job, std::string name, Write write, Check check)
    : job_(&job),
      name_(std::move(name)),
      write_(std::move(write)),
      check_(std::move(check)),
      order_(device_order(job.machine)) {}

Time GroupCosts::time(const GroupPattern& groups, std::int64_t bytes) {
  if (groups.empty()) return 0;
  const auto [found, added] = known_.try_emplace(groups);
  Line& line = found->second;
  if (added) line = {measure(groups, small_size), measure(groups, large_size)};
  const double slope = static_cast<double>(line.large - line.small) / (large_size - small_size);
  double time = static_cast<double>(line.small) + slope * static_cast<double>(bytes - small_size);
  // Where steps overlap on a slow link the line passes below zero; what is smaller takes its share at least.
  if (bytes < small_size)
    time = std::max(time, static_cast<double>(line.small) * static_cast<double>(bytes) / small_size);
  return time < static_cast<double>(latest) ? std::max<Time>(0, static_cast<Time>(time)) : never;
}

Time GroupCosts::measure(const GroupPattern& groups, std::int64_t bytes) const {
  const std::string what = fmt::format("{} of {} B, devices {}", name_, bytes, text_of(groups, order_));
  return measured(*job_, what, [&](program::Program& program) {
    program::BlockBuilder builder(program, "alone");
    write_(builder, bytes);
    const program::BlockId block = builder.done();
    for (const std::vector<int>& group : groups) {
      std::vector<program::DeviceId> members;
      for (const int member : group)
        members.push_back(static_cast<program::DeviceId>(order_[static_cast<std::size_t>(member)]));
      add_group(program, std::move(members), block);
      if (check_) check_(program.groups.back());
    }
  });
}

GroupCosts all_reduce_costs(const Job& job) {
  program::Collective collective;
  job.collectives.choose_for(collective);
  const program::CollectiveAlgorithm& algorithm = *program::collective_algorithms()[collective.algorithm];
  const auto write = [collective](program::BlockBuilder& builder, std::int64_t bytes) mutable {
    collective.bytes = bytes;
    builder.collective(collective);
  };
  const auto check = [&algorithm, &job, collective](const program::Group& group) {
    const std::string problem = algorithm.check(collective, group, job.machine);
    if (problem.empty()) return;
    throw InputError(fmt::format("collectives.all_reduce = \"{}\" cannot sum over devices {}: {}; \"ring\" can",
                                 algorithm.name(), fmt::join(group.members, ", "), problem));
  };
  return {job, algorithm.name() + " all-reduce", write, check};
}

SublayerCosts::SublayerCosts(const Job& job, const program::sublayer::Configuration& configuration)
    : job_(&job),
      is_fused_(configuration.fused),
      reduce_scatter_(copy_costs(job, program::CopyKind::reduce_scatter, configuration.near_memory)),
      all_gather_(copy_costs(job, program::CopyKind::all_gather, false)) {}

Time SublayerCosts::time(const GroupPattern& groups, const workload::Operator& gemm, program::Activity activity,
                         double speed) {
  const std::int64_t bytes = gemm.m * gemm.n * workload::bytes_per_element(gemm.datatype);
  const Time alone = product(gemm, activity, speed), scatter = reduce_scatter_.time(groups, bytes);
  const Time first = is_fused_ ? alone / chunks_in_a_row(groups, gemm) : alone;
  return saturating_add(std::max(alone, saturating_add(first, scatter)), all_gather_.time(groups, bytes));
}

std::int64_t SublayerCosts::chunks_in_a_row(const GroupPattern& groups, const workload::Operator& gemm) const {
  const machine::DeviceSpec& device = job_->machine.device;
  const std::int64_t at_once = device.cores * device.transaction->work_groups_per_cu;
  const std::int64_t tiles =
      program::sublayer::gemm_kernel({gemm.m, gemm.n, gemm.k}, device, gemm.datatype).shape.tiles();
  const auto members = static_cast<std::int64_t>(groups.front().size());
  return std::clamp((tiles + at_once - 1) / at_once, std::int64_t{1}, members);
}

Time SublayerCosts::product(const workload::Operator& gemm, program::Activity activity, double speed) {
  const auto [found, added] = products_.try_emplace({gemm.m, gemm.n, gemm.k, activity, speed});
  if (!added) return found->second;
  const bool is_backward = activity == program::Activity::backward;
  const std::string what = fmt::format("{} {} x {} x {} by a kernel{}, speed {}", gemm.datatype, gemm.m, gemm.n, gemm.k,
                                       is_backward ? ", backward" : "", speed);
  const std::vector<double>& speeds = job_->machine.speed;
  const auto device = static_cast<program::DeviceId>(std::ranges::find(speeds, speed) - speeds.begin());
  return found->second = measured(*job_, what, [&](program::Program& program) {
           program::BlockBuilder builder(program, "alone");
           program::sublayer::add_inline({"gemm", activity}, job_->machine.device, gemm, builder);
           add_group(program, {device}, builder.done());
         });
}

}  // namespace tessera::strategy::primepar
