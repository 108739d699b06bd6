#include "loans.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "hosts.hpp"
#include "recomputation.hpp"
#include "tessera/base/error.hpp"

namespace tessera::strategy::megatron {
namespace {

/// Takes what a device lends from what is left to it: so many bytes, or without a number all. Returns its bytes.
/// InputError where that is too little.
std::int64_t take(const LoanOptions& loan, std::int64_t bytes, KeptBytes& left) {
  workload::LayerSections chosen = sections_of(loan.tensors);
  if (loan.tensors.empty()) chosen.set();
  std::int64_t kept = 0;
  for (std::size_t i = 0; i < left.size(); ++i) kept += chosen[i] ? left.at(i) : 0;
  const std::int64_t wanted = bytes > 0 ? bytes : kept;
  if (wanted > kept || kept == 0) {
    throw InputError(
        fmt::format("stage {} is to lend {} of a micro-batch, and keeps {} of these tensors that are not "
                    "lent already",
                    loan.from, size_text(wanted), size_text(kept)));
  }
  std::int64_t open = wanted;
  for (std::size_t i = 0; i < left.size(); ++i) {
    const std::int64_t some = chosen[i] ? std::min(open, left.at(i)) : 0;
    left.at(i) -= some;
    open -= some;
  }
  return wanted;
}

void refuse_shape(const LoanOptions& loan, const Options& options, const machine::Machine& machine) {
  if (loan.to < 0 && nearest_host(machine, 0) == program::no_device)
    throw InputError("it names no stage that holds it (to), and the machine has no host: see [[machine.host]]");
  for (const std::int64_t stage : {loan.from, std::max<std::int64_t>(loan.to, 0)}) {
    if (stage >= options.pipeline)
      throw InputError(fmt::format("there is no stage {}, allowed: 0 to {}", stage, options.pipeline - 1));
  }
  if (loan.from == loan.to) throw InputError(fmt::format("stage {} lends to itself", loan.from));
}

/// Micro-batches that may be on their way out at once.
std::uint32_t leaving_of(const LoanOptions& loan) {
  constexpr std::int64_t double_buffered = 2;
  if (loan.buffers > 0) return static_cast<std::uint32_t>(loan.buffers - 1);
  return loan.to < 0 ? static_cast<std::uint32_t>(double_buffered - 1) : 0;
}

Loan read_loan(const LoanOptions& options, const machine::Machine& machine, const Cut& cut,
               std::vector<KeptBytes>& left) {
  Loan loan;
  loan.from = static_cast<std::uint32_t>(options.from);
  loan.to = options.to < 0 ? no_stage : static_cast<std::uint32_t>(options.to);
  loan.lead = static_cast<std::uint32_t>(options.lead);
  loan.at_once = most_lent(with_loan(stage_actions(cut, loan.from), 0, loan.lead), 0);
  loan.leaving = leaving_of(options);
  loan.helpers = helpers_of(options, cut, machine);
  loan.bytes = options.bytes.value();
  for (std::uint32_t replica = 0; replica < loan.helpers.size(); ++replica)
    for (std::uint32_t rank = 0; rank < loan.helpers[replica].size(); ++rank)
      if (loan.helpers[replica][rank] != program::no_device)
        loan.bytes = take(options, loan.bytes, left[cut.rank({rank, replica, loan.from})]);
  return loan;
}

}  // namespace

std::int64_t layers_of(const Cut& cut, std::uint32_t stage, std::uint32_t kind) {
  std::int64_t layers = 0;
  for (const LayerCount& count : layer_counts(cut, stage)) layers += count.kind == kind ? count.layers : 0;
  return layers;
}

KeptBytes kept_by_section(const Cut& cut, std::uint32_t stage) {
  KeptBytes all{};
  for (const LayerCount& count : passed_layers(cut, stage)) {
    const KeptBytes once = kept_of_layer(cut.layer(count.kind, 0), cut.repeated(stage, count.repeat), count.repeat);
    for (std::size_t i = 0; i < all.size(); ++i) all.at(i) += count.layers * once.at(i);
  }
  return all;
}

void read_loans(const config::Table& table, const Job& job, Cut& cut, config::Diagnostics& diagnostics) {
  const Options& options = cut.options;
  if (options.loans.empty() || !diagnostics.ok()) return;
  const config::Location where = where_of(table, "loans");
  if (!cut.training()) return diagnostics.error(where, "loans: nothing is kept outside training");
  if (options.interleave > 1) return diagnostics.error(where, "loans are of stages with one chunk: interleave = 1");
  std::vector<KeptBytes> left;  // by rank
  for (std::uint32_t rank = 0; rank < cut.devices.size(); ++rank)
    left.push_back(kept_by_section(cut, cut.place(rank).stage));
  for (std::size_t i = 0; i < options.loans.size(); ++i) {
    try {
      refuse_shape(options.loans[i], options, job.machine);
      cut.loans.push_back(read_loan(options.loans[i], job.machine, cut, left));
    } catch (const InputError& error) {
      diagnostics.error(where, fmt::format("loan {} of {}: {}", i, options.loans.size(), error.what()));
    }
  }
}

program::LoanSlots loan_slots(std::uint32_t loan) {
  return {peer_slots + loan, events + program::loan_events * loan, channels + program::loan_channels * loan};
}

program::LoanShape loan_shape(program::Program& program, const Cut& cut, std::size_t loan) {
  const Loan& one = cut.loans[loan];
  program::LoanShape shape;
  shape.slots = loan_slots(static_cast<std::uint32_t>(loan));
  shape.bytes = Bytes{one.bytes};
  shape.times = static_cast<std::uint32_t>(cut.micro_batches);
  shape.at_once = one.at_once;
  shape.leaving = one.leaving;
  shape.confirmed = one.is_to_host();  // the way there may be slow behind the first link, as over a bridge
  shape.to = program::category_named(program, "offloaded");
  shape.activity = program::activity_named(program, "offload");
  return shape;
}

std::vector<program::PipelineAction> actions_with_loans(const Cut& cut, const LoansOfDevice& loans,
                                                        std::vector<program::PipelineAction> actions) {
  for (const std::uint32_t i : loans.lent) actions = with_loan(actions, i, cut.loans[i].lead);
  return actions;
}

void add_loan_streams(program::Program& program, const Cut& cut, const LoansOfDevice& loans,
                      std::vector<program::BlockId>& streams) {
  std::vector<std::uint32_t> all;  // a device lends or holds, never both of one loan
  std::ranges::merge(loans.lent, loans.held, std::back_inserter(all));
  for (const std::uint32_t loan : all) {
    const program::LoanShape shape = loan_shape(program, cut, loan);
    if (std::ranges::binary_search(loans.held, loan)) {
      program::add_held_streams(program, shape, streams);
      continue;
    }
    streams.push_back(loan_out_stream(program, shape));
    streams.push_back(loan_back_stream(program, shape));
  }
}

void add_host_streams(program::Program& program, const Cut& cut) {
  struct Held {
    std::uint32_t loan = 0;
    program::DeviceId lender = 0;
  };
  std::map<program::DeviceId, std::vector<Held>> by_host;
  for (std::uint32_t i = 0; i < cut.loans.size(); ++i) {
    if (!cut.loans[i].is_to_host()) continue;
    for (const LoanPair& pair : pairs_of(cut, cut.loans[i])) by_host[pair.helper].push_back({i, pair.lender});
  }
  for (const auto& [host, all] : by_host) {
    program::DeviceProgram& device = program.devices[host];
    program::BlockBuilder main(program, "host"), end(program, "host");
    std::vector<program::BlockId> streams(1);
    for (std::uint32_t slot = 0; slot < all.size(); ++slot) {
      program::LoanShape shape = loan_shape(program, cut, all[slot].loan);
      shape.slots.peer = slot;  // its channels are those of its lender
      shape.slots.first_event = program::loan_events * slot;
      device.peers.push_back(all[slot].lender);
      program::write_room(main, shape);
      program::write_end_of_room(end, shape);
      program::add_held_streams(program, shape, streams);
    }
    streams[0] = main.call(end.done()).done();
    device.streams = std::move(streams);
    device.events = program::loan_events * static_cast<std::uint32_t>(all.size());
    device.groups.assign(group_slots, program::no_group);
  }
}

}  // namespace tessera::strategy::megatron
