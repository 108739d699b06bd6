// Which devices lend to which: a loan by its pairs, and by device what it lends and holds.
#pragma once

#include "cut.hpp"
#include "tessera/machine/machine.hpp"

namespace tessera::strategy::megatron {

/// As Loan::helpers: those that are listed; or in each replica the nearest pair of devices first, by hops, then by
/// rank; or the nearest hosts. InputError where the listed devices are not those of such a loan.
[[nodiscard]] std::vector<std::vector<program::DeviceId>> helpers_of(const LoanOptions& loan, const Cut& cut,
                                                                     const machine::Machine& machine);

/// Two devices of a loan.
struct LoanPair {
  program::DeviceId lender = 0, helper = 0;
};
/// Replica by replica, by tensor rank of the lender.
[[nodiscard]] std::vector<LoanPair> pairs_of(const Cut& cut, const Loan& loan);

/// What a device lends and holds: places in Cut::loans, ascending.
struct LoansOfDevice {
  std::vector<std::uint32_t> lent, held;
  friend auto operator<=>(const LoansOfDevice&, const LoansOfDevice&) = default;
};
/// By rank; hosts are not among them.
[[nodiscard]] std::vector<LoansOfDevice> loans_by_rank(const Cut& cut);

/// Of the device of a stage that has most of it.
struct LoanBytes {
  std::int64_t lent = 0;  ///< B of a micro-batch
  std::int64_t room = 0;  ///< B, for all that others lend to it at once
};
[[nodiscard]] LoanBytes loan_bytes(const Cut& cut, std::uint32_t stage);

}  // namespace tessera::strategy::megatron
