#include <algorithm>
#include <limits>
#include <map>
#include <vector>

#include "block_order.hpp"
#include "tessera/base/error.hpp"
#include "tessera/program/collective.hpp"
#include "tessera/program/group_rank.hpp"
#include "tessera/program/program.hpp"

namespace tessera::program {
namespace {

/// sum += a * b, staying at the largest value instead of overflowing. Nothing is negative.
void add_product(std::int64_t& sum, std::int64_t a, std::int64_t b) {
  std::int64_t product = 0;
  if (__builtin_mul_overflow(a, b, &product) || __builtin_add_overflow(sum, product, &sum)) {
    sum = std::numeric_limits<std::int64_t>::max();
  }
}
void add_product(Int128& sum, Int128 a, Int128 b) {
  Int128 product = 0;
  if (__builtin_mul_overflow(a, b, &product) || __builtin_add_overflow(sum, product, &sum)) {
    sum = static_cast<Int128>(~Uint128{0} >> 1U);
  }
}

/// How often each block runs when `entry` runs once.
std::vector<std::int64_t> executions(const Program& program, BlockId entry, const std::vector<BlockId>& order) {
  std::vector<std::int64_t> times(program.blocks.size(), 0);
  times[entry] = 1;
  for (const BlockId block : order) {
    for (const Instruction& instruction : program.blocks[block].code) {
      if (instruction.op == Op::call) add_product(times[instruction.a], times[block], instruction.count);
    }
  }
  return times;
}

/// Messages and bytes that a device sends in one call of a collective.
ProgramTotals traffic(Lowerings& lowerings, DeviceId device, std::uint32_t index) {
  const Program& program = lowerings.program();
  const GroupId group = program.devices[device].groups.at(program.collectives[index].group_slot);
  const auto rank = rank_in(program.groups.at(group), device);
  if (!rank) throw InternalError("a collective of a group without the device");
  const CollectiveCall call = lowerings.call(index, group, *rank);
  const CollectiveAlgorithm& algorithm = algorithm_of(call);
  ProgramTotals sent;
  for_all_steps(algorithm, call, [&](const CollectiveCall&, const Step& step) {
    sent.messages += static_cast<std::int64_t>(step.sends.size());
    for (const Transfer& transfer : step.sends) sent.bytes_sent += transfer.bytes;
  });
  return sent;
}

void add_instruction(const Program& program, const Instruction& instruction, std::int64_t times, ProgramTotals& sum,
                     std::vector<std::int64_t>& calls) {
  add_product(sum.instructions, times, 1);
  if (instruction.op == Op::compute) {
    std::int64_t runs = 0;
    add_product(runs, times, instruction.count);
    add_product(sum.flops, runs, program.operators[instruction.a].flops);
  } else if (instruction.op == Op::send) {
    add_product(sum.bytes_sent, times, instruction.bytes);
    add_product(sum.messages, times, 1);
  } else if (instruction.op == Op::collective) {
    add_product(calls[instruction.a], times, 1);
  } else if (instruction.op == Op::kernel) {
    add_product(sum.kernels[instruction.a], times, 1);
    if (const auto* gemm = std::get_if<GemmKernel>(&program.kernels[instruction.a].work))
      add_product(sum.flops, times, gemm->shape.flops());
  }
}

}  // namespace

std::vector<BlockRuns> block_runs(const Program& program, BlockId entry) {
  const std::vector<BlockId> order = callers_first(program, entry);
  const std::vector<std::int64_t> times = executions(program, entry, order);
  std::vector<BlockRuns> runs;
  for (const BlockId block : order) runs.push_back({block, times[block]});
  return runs;
}

namespace {

/// Without what collectives send; how often each is called goes to `calls`.
ProgramTotals own_totals(const Program& program, DeviceId device, std::vector<std::int64_t>& calls) {
  ProgramTotals sum;
  sum.kernels.assign(program.kernels.size(), 0);
  calls.assign(program.collectives.size(), 0);
  for (const BlockId entry : program.devices.at(device).streams) {
    for (const auto& [block, times] : block_runs(program, entry)) {
      for (const Instruction& instruction : program.blocks[block].code)
        add_instruction(program, instruction, times, sum, calls);
    }
  }
  return sum;
}

}  // namespace

ProgramTotals totals(const Program& program, const machine::Machine& machine, DeviceId device) {
  Lowerings lowerings(program, machine);
  return totals(lowerings, device);
}

ProgramTotals totals(Lowerings& lowerings, DeviceId device) {
  std::vector<std::int64_t> calls;
  ProgramTotals sum = own_totals(lowerings.program(), device, calls);
  for (std::uint32_t i = 0; i < calls.size(); ++i) {
    if (calls[i] == 0) continue;
    const ProgramTotals once = traffic(lowerings, device, i);
    add_product(sum.bytes_sent, calls[i], once.bytes_sent);
    add_product(sum.messages, calls[i], once.messages);
  }
  return sum;
}

double executed_flops(const Program& program) {
  std::map<std::vector<BlockId>, double> by_code;
  std::vector<std::int64_t> calls;
  double sum = 0;
  for (DeviceId device = 0; device < program.devices.size(); ++device) {
    const auto& streams = program.devices[device].streams;
    if (streams.empty()) continue;
    const auto [found, added] = by_code.try_emplace(streams, 0.0);
    if (added) found->second = static_cast<double>(own_totals(program, device, calls).flops);
    sum += found->second;
  }
  return sum;
}

}  // namespace tessera::program
