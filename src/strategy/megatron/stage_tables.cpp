#include "stage_tables.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <numeric>

#include "device_state.hpp"
#include "loans.hpp"
#include "placement.hpp"
#include "recomputation.hpp"
#include "section_sets.hpp"
#include "tessera/machine/routes.hpp"
#include "ways.hpp"

namespace tessera::strategy::megatron {
namespace {

using Column = std::vector<std::int64_t>;
using Index = std::vector<std::int32_t>;

DataTable placement_table(const Cut& cut, const machine::Machine& machine) {
  Index stage, replica, context, rank, device, x, y;
  for (std::uint32_t i = 0; i < cut.devices.size(); ++i) {
    const Place at = cut.place(i);
    stage.push_back(static_cast<std::int32_t>(at.stage));
    replica.push_back(static_cast<std::int32_t>(cut.replica(at)));
    context.push_back(static_cast<std::int32_t>(cut.context_rank(at)));
    rank.push_back(static_cast<std::int32_t>(at.tensor));
    device.push_back(static_cast<std::int32_t>(cut.devices[i]));
    x.push_back(machine.places[cut.devices[i]].x);
    y.push_back(machine.places[cut.devices[i]].y);
  }
  DataTable table{
      "placement", "Devices that take part, one a row, in order of stage, replica, context and tensor rank.", {}};
  table.index("stage", "of the pipeline", stage).index("replica", "of the stage", replica);
  table.index("context_rank", "of the replica", context);
  table.index("tensor_rank", "in the group's order", rank).index("device", "its number", device);
  table.index("x", "column on a mesh", x).index("y", "row on a mesh", y);
  return table;
}

/// What one layer runs again, of one micro-batch on one device.
struct Repeated {
  Time operators = 0;
  double collectives = 0;  ///< ps, on an idle network
};

Repeated repeated_by(const Cut& cut, const Job& job, std::uint32_t stage) {
  Repeated all;
  const workload::LayerSections& again = cut.recomputed[stage].again;
  if (again.none()) return all;
  for (const auto& [kind, repeat, layers] : passed_layers(cut, stage)) {
    if (repeat == Repeat::none) continue;
    const SectionTimes times = section_times(cut, job, stage, kind, again);
    for (std::size_t place = 0; place < again.size(); ++place) {
      if (!again[place]) continue;
      all.operators += layers * times.operators.at(place);
      all.collectives += static_cast<double>(layers) * times.collectives.at(place);
    }
  }
  return all;
}

/// "0-3, 12-15": the model's layers in each chunk of a stage, "-" of one without layers.
std::string pieces_text(const Cut& cut, std::uint32_t stage) {
  std::vector<std::string> pieces;
  for (std::uint32_t chunk = 0; chunk < cut.chunks(); ++chunk) {
    const std::int64_t first = cut.first_layer(stage, chunk), end = cut.end_layer(stage, chunk);
    pieces.push_back(first == end ? "-" : fmt::format("{}-{}", first, end - 1));
  }
  return fmt::format("{}", fmt::join(pieces, ", "));
}

DataTable stages_table(const Cut& cut, const Job& job) {
  Index stage;
  std::vector<std::string> again, pieces;
  Column layers, held, kept, operators, collectives, lent, room;
  for (std::uint32_t i = 0; i < cut.options.pipeline; ++i) {
    const KeptBytes by_section = kept_by_section(cut, i);
    const Repeated repeated = repeated_by(cut, job, i);
    stage.push_back(static_cast<std::int32_t>(i));
    layers.push_back(cut.stage_layers(i));
    pieces.push_back(pieces_text(cut, i));
    again.push_back(recomputation_text(cut, i));
    held.push_back(held_bytes(cut, device_state(cut, i)));
    kept.push_back(std::accumulate(by_section.begin(), by_section.end(), std::int64_t{0}));
    operators.push_back(repeated.operators);
    collectives.push_back(static_cast<std::int64_t>(repeated.collectives));
    const LoanBytes loans = loan_bytes(cut, i);
    lent.push_back(loans.lent);
    room.push_back(loans.room);
  }
  DataTable table{"stages", "Stages of the pipeline, one a row; amounts are of one device.", {}};
  table.index("stage", "of the pipeline", stage).integer("layers", "1", "of all chunks", layers);
  table.text("pieces", "the model's layers in each chunk, from 0 on", pieces);
  table.integer("held_bytes", "B", "from the first to the last moment: weights, gradients, optimizer, buffers", held);
  table.integer("kept_bytes", "B",
                "activations that its layers keep of a micro-batch; of two pieces that it passes one of, the longer's",
                kept);
  table.text("recomputed", "sections that run again, and of which layers", again);
  table.integer("repeated_ps", "ps", "operators that a micro-batch runs again", operators);
  table.integer("repeated_collectives_ps", "ps", "collectives among them, alone on the network", collectives);
  table.integer("lent_bytes", "B", "of a micro-batch, to other stages and hosts, of the device that lends most", lent);
  table.integer("room_bytes", "B", "for what other stages lend, of the device that holds most", room);
  return table;
}

DataTable loans_table(const Cut& cut, const machine::Machine& machine) {
  Index loan, from, to, lender, helper, hops, at_once, lead;
  Column bytes;
  const machine::Routes routes(machine.network);
  for (std::uint32_t i = 0; i < cut.loans.size(); ++i) {
    const Loan& one = cut.loans[i];
    for (const LoanPair& pair : pairs_of(cut, one)) {
      loan.push_back(static_cast<std::int32_t>(i));
      from.push_back(static_cast<std::int32_t>(one.from));
      to.push_back(one.is_to_host() ? -1 : static_cast<std::int32_t>(one.to));
      lender.push_back(static_cast<std::int32_t>(pair.lender));
      helper.push_back(static_cast<std::int32_t>(pair.helper));
      hops.push_back(static_cast<std::int32_t>(routes.links(pair.lender, pair.helper).size()));
      bytes.push_back(one.bytes);
      at_once.push_back(static_cast<std::int32_t>(one.at_once));
      lead.push_back(static_cast<std::int32_t>(one.lead));
    }
  }
  DataTable table{"loans", "What devices lend to others, a pair a row.", {}};
  table.index("loan", "as in the experiment", loan).index("from_stage", "of the lender", from);
  table.index("to_stage", "of its helper; -1: a host", to)
      .index("lender", "device", lender)
      .index("helper", "device", helper);
  table.index("hops", "links between them", hops).integer("bytes", "B", "of a micro-batch", bytes);
  table.index("at_once", "micro-batches that the helper has room for", at_once);
  table.index("lead", "passes ahead of the backward pass, when they are asked for", lead);
  return table;
}

/// Loans between the same two stages that are asked for alike.
struct SameLoans {
  const Loan* first = nullptr;
  std::map<program::DeviceId, std::int64_t> lent;  ///< B of a micro-batch, by lender
};

std::vector<SameLoans> same_loans(const Cut& cut) {
  std::vector<SameLoans> all;
  for (const Loan& loan : cut.loans) {
    auto same = std::ranges::find_if(all, [&](const SameLoans& other) {
      const Loan& one = *other.first;
      return one.from == loan.from && one.to == loan.to && one.lead == loan.lead && one.leaving == loan.leaving;
    });
    if (same == all.end()) same = all.insert(all.end(), {&loan, {}});
    for (const LoanPair& pair : pairs_of(cut, loan)) same->lent[pair.lender] += loan.bytes;
  }
  return all;
}

std::string lent_text(const Cut& cut, const SameLoans& same) {
  std::int64_t least = same.lent.begin()->second, most = least;
  for (const auto& [lender, bytes] : same.lent) {
    least = std::min(least, bytes);
    most = std::max(most, bytes);
  }
  const bool is_whole = static_cast<std::int64_t>(same.lent.size()) == cut.options.tensor * cut.options.copies();
  return fmt::format("{} {} of a micro-batch",
                     is_whole ? "on each device" : fmt::format("on {} of its devices", same.lent.size()),
                     least == most ? size_text(most) : size_text(least) + " to " + size_text(most));
}

void describe_loans(const Cut& cut, Plan& plan) {
  std::int64_t moved = 0;
  for (const SameLoans& same : same_loans(cut)) {
    const Loan& loan = *same.first;
    plan.description.emplace_back(
        fmt::format("stage {} lends to {}", loan.from, loan.is_to_host() ? "hosts" : std::to_string(loan.to)),
        fmt::format("{}, at most {} at once, asked for {} {} ahead{}", lent_text(cut, same), loan.at_once, loan.lead,
                    loan.lead == 1 ? "pass" : "passes",
                    loan.leaving == 0 ? "" : fmt::format(", in {} buffers", loan.leaving + 1)));
    for (const auto& [lender, bytes] : same.lent) moved += bytes * cut.micro_batches;
  }
  plan.description.emplace_back("lent in all", size_text(moved) + ", and as much back");
}

}  // namespace

void add_stage_tables(const Cut& cut, const Job& job, Plan& plan) {
  const bool has_sets = !cut.options.recomputed_sections.empty() || !cut.options.stages.empty();
  if (!plan.program.ways.empty()) plan.tables.push_back(ways_table(plan.program.ways));
  if (!has_places(cut.options) && !has_sets && cut.loans.empty()) return;
  plan.tables.push_back(placement_table(cut, job.machine));
  plan.tables.push_back(stages_table(cut, job));
  if (cut.loans.empty()) return;
  plan.tables.push_back(loans_table(cut, job.machine));
  describe_loans(cut, plan);
}

}  // namespace tessera::strategy::megatron
