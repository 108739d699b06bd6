// Activations that stages lend to others (docs/megatron.md): which, between which devices, and what they write.
#pragma once

#include "loan_pairs.hpp"
#include "tessera/program/loans.hpp"

namespace tessera::strategy::megatron {

/// Layers of a stage that are of that kind.
[[nodiscard]] std::int64_t layers_of(const Cut& cut, std::uint32_t stage, std::uint32_t kind);

/// Bytes that the layers of a stage keep of a micro-batch, by section of the layer.
[[nodiscard]] KeptBytes kept_by_section(const Cut& cut, std::uint32_t stage);

/// Fills in Cut::loans. Expects the rest of the cut, and does nothing where that has errors. Problems go to
/// `diagnostics`.
void read_loans(const config::Table& table, const Job& job, Cut& cut, config::Diagnostics& diagnostics);

/// What the slots, events and channels of a loan are.
[[nodiscard]] program::LoanSlots loan_slots(std::uint32_t loan);
/// What the code of a loan's lender and helper is made of; loans are known by their place in Cut::loans.
[[nodiscard]] program::LoanShape loan_shape(program::Program& program, const Cut& cut, std::size_t loan);
/// A stage's actions, with those of what a device of it lends.
[[nodiscard]] std::vector<program::PipelineAction> actions_with_loans(const Cut& cut, const LoansOfDevice& loans,
                                                                      std::vector<program::PipelineAction> actions);

/// What hosts do that hold what stages lend: behind the layout, which has told the lenders of them.
void add_host_streams(program::Program& program, const Cut& cut);

/// Streams of a device beside the main one.
void add_loan_streams(program::Program& program, const Cut& cut, const LoansOfDevice& loans,
                      std::vector<program::BlockId>& streams);

}  // namespace tessera::strategy::megatron
