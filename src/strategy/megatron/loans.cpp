#include "loans.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>

#include "hosts.hpp"
#include "recomputation.hpp"
#include "tessera/base/error.hpp"
#include "tessera/machine/routes.hpp"

namespace tessera::strategy::megatron {
namespace {

/// Takes what a loan lends from what is left of its stage's; returns its bytes. InputError where that is too little.
std::int64_t take(const LoanOptions& loan, KeptBytes& left) {
  workload::LayerSections chosen = sections_of(loan.tensors);
  if (loan.tensors.empty()) chosen.set();
  std::int64_t kept = 0;
  for (std::size_t i = 0; i < left.size(); ++i) kept += chosen[i] ? left.at(i) : 0;
  const std::int64_t wanted = loan.bytes.value() > 0 ? loan.bytes.value() : kept;
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

/// Of a replica: the nearest pair first, by hops, then by rank.
std::vector<std::uint32_t> helper_ranks(const Cut& cut, const machine::Machine& machine, const Loan& loan,
                                        std::uint32_t replica) {
  struct Pair {
    std::size_t hops;
    std::uint32_t from, to;
    auto operator<=>(const Pair&) const = default;
  };
  const auto ranks = static_cast<std::uint32_t>(cut.options.tensor);
  const machine::Routes routes(machine.network);
  std::vector<Pair> pairs;
  for (std::uint32_t from = 0; from < ranks; ++from) {
    for (std::uint32_t to = 0; to < ranks; ++to) {
      const std::size_t hops =
          routes.links(cut.device({from, replica, loan.from}), cut.device({to, replica, loan.to})).size();
      pairs.push_back({hops, from, to});
    }
  }
  std::ranges::sort(pairs);
  std::vector<std::uint32_t> helper(ranks, ranks);
  std::vector<bool> is_taken(ranks);
  for (const Pair& pair : pairs) {
    if (helper[pair.from] < ranks || is_taken[pair.to]) continue;
    helper[pair.from] = pair.to;
    is_taken[pair.to] = true;
  }
  return helper;
}

/// Of each tensor rank.
std::vector<std::uint32_t> nearest_hosts(const Cut& cut, const machine::Machine& machine, const Loan& loan,
                                         std::uint32_t replica) {
  std::vector<std::uint32_t> nearest;
  for (std::uint32_t rank = 0; rank < cut.options.tensor; ++rank)
    nearest.push_back(nearest_host(machine, cut.device({rank, replica, loan.from})));
  return nearest;
}

/// Micro-batches that may be on their way out at once.
std::uint32_t leaving_of(const LoanOptions& loan) {
  constexpr std::int64_t double_buffered = 2;
  if (loan.buffers > 0) return static_cast<std::uint32_t>(loan.buffers - 1);
  return loan.to < 0 ? static_cast<std::uint32_t>(double_buffered - 1) : 0;
}

}  // namespace

std::int64_t layers_of(const Cut& cut, std::uint32_t stage, bool moe) {
  std::int64_t layers = 0;
  for (std::uint32_t chunk = 0; chunk < cut.options.interleave; ++chunk) {
    for (std::int64_t i = cut.first_layer(stage, chunk); i < cut.end_layer(stage, chunk); ++i)
      layers += workload::is_moe_layer(*cut.model, i) == moe ? 1 : 0;
  }
  return layers;
}

KeptBytes kept_by_section(const Cut& cut, std::uint32_t stage) {
  KeptBytes all{};
  for (const bool moe : {false, true}) {
    const std::int64_t layers = layers_of(cut, stage, moe);
    if (layers == 0) continue;
    const KeptBytes once = kept_bytes(cut.layer(moe, 0), cut.recomputed[stage]);
    for (std::size_t i = 0; i < all.size(); ++i) all.at(i) += layers * once.at(i);
  }
  return all;
}

void read_loans(const config::Table& table, const Job& job, Cut& cut, config::Diagnostics& diagnostics) {
  const Options& options = cut.options;
  if (options.loans.empty() || !diagnostics.ok()) return;
  const config::Location where = where_of(table, "loans");
  if (!cut.training()) return diagnostics.error(where, "loans: nothing is kept outside training");
  if (options.interleave > 1) return diagnostics.error(where, "loans are of stages with one chunk: interleave = 1");
  std::vector<KeptBytes> left;
  for (std::uint32_t stage = 0; stage < options.pipeline; ++stage) left.push_back(kept_by_section(cut, stage));
  for (std::size_t i = 0; i < options.loans.size(); ++i) {
    const LoanOptions& loan = options.loans[i];
    try {
      refuse_shape(loan, options, job.machine);
      const auto from = static_cast<std::uint32_t>(loan.from);
      const std::uint32_t to = loan.to < 0 ? no_stage : static_cast<std::uint32_t>(loan.to);
      const auto lead = static_cast<std::uint32_t>(loan.lead);
      Loan taken{from,
                 to,
                 take(loan, left[from]),
                 lead,
                 most_lent(with_loan(stage_actions(cut, from), 0, lead), 0),
                 leaving_of(loan),
                 {}};
      for (std::uint32_t replica = 0; replica < options.data; ++replica)
        taken.helpers.push_back(taken.is_to_host() ? nearest_hosts(cut, job.machine, taken, replica)
                                                   : helper_ranks(cut, job.machine, taken, replica));
      cut.loans.push_back(std::move(taken));
    } catch (const InputError& error) {
      diagnostics.error(where, fmt::format("loan {} of {}: {}", i, options.loans.size(), error.what()));
    }
  }
}

std::vector<LoanPair> pairs_of(const Cut& cut, const Loan& loan) {
  std::vector<LoanPair> pairs;
  for (std::uint32_t replica = 0; replica < loan.helpers.size(); ++replica) {
    const std::vector<std::uint32_t>& helpers = loan.helpers[replica];
    for (std::uint32_t rank = 0; rank < helpers.size(); ++rank)
      pairs.push_back({cut.device({rank, replica, loan.from}),
                       loan.is_to_host() ? helpers[rank] : cut.device({helpers[rank], replica, loan.to})});
  }
  return pairs;
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

std::vector<program::PipelineAction> actions_with_loans(const Cut& cut, std::uint32_t stage,
                                                        std::vector<program::PipelineAction> actions) {
  for (std::uint32_t i = 0; i < cut.loans.size(); ++i)
    if (cut.loans[i].from == stage) actions = with_loan(actions, i, cut.loans[i].lead);
  return actions;
}

std::int64_t room_for_loans(const Cut& cut, std::uint32_t stage) {
  std::int64_t bytes = 0;
  for (const Loan& loan : cut.loans) bytes += loan.to == stage ? loan.bytes * loan.at_once : 0;
  return bytes;
}

void add_loan_streams(program::Program& program, const Cut& cut, std::uint32_t stage,
                      std::vector<program::BlockId>& streams) {
  for (std::size_t i = 0; i < cut.loans.size(); ++i) {
    const Loan& loan = cut.loans[i];
    if (loan.from != stage && loan.to != stage) continue;
    const program::LoanShape shape = loan_shape(program, cut, i);
    if (loan.to == stage) {
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
