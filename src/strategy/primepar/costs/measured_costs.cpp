#include "measured_costs.hpp"

#include <algorithm>

#include "tessera/machine/device_order.hpp"

namespace tessera::strategy::primepar {
namespace {

using program::search::GroupCosts;

GroupCosts copy_costs(const Job& job, program::CopyKind kind, bool near_memory) {
  const auto write = [=](program::BlockBuilder& builder, std::int64_t bytes) {
    builder.kernel({program::CopyKernel{bytes, kind, near_memory}, 0, 0, 0});
  };
  return {job.evaluations, empty_program(job), machine::device_order(job.machine), write};
}

}  // namespace

GroupCosts all_reduce_costs(const Job& job) {
  program::Collective collective;
  job.collectives.choose_for(collective);
  return program::search::all_reduce_costs(job.evaluations, job.machine, empty_program(job),
                                           machine::device_order(job.machine), collective);
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
  const auto key = std::make_tuple(gemm.m, gemm.n, gemm.k, activity, speed);
  if (const auto found = products_.find(key); found != products_.end()) return found->second;
  const std::vector<double>& speeds = job_->machine.speed;
  const auto device = static_cast<program::DeviceId>(std::ranges::find(speeds, speed) - speeds.begin());
  program::Program program = empty_program(*job_);
  program::BlockBuilder builder(program, "alone");
  program::sublayer::add_inline({"gemm", activity}, job_->machine.device, gemm, builder);
  program::search::add_group(program, {device}, builder.done());
  return products_[key] = program::search::measured(job_->evaluations, program);
}

}  // namespace tessera::strategy::primepar
