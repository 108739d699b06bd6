#include "loan_pairs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "hosts.hpp"
#include "tessera/base/error.hpp"
#include "tessera/machine/routes.hpp"

namespace tessera::strategy::megatron {
namespace {

using program::DeviceId;
using program::no_device;

std::vector<DeviceId> nearest(const Cut& cut, const machine::Machine& machine, const LoanOptions& loan,
                              std::uint32_t replica) {
  struct Pair {
    std::size_t hops;
    std::uint32_t from, to;
    auto operator<=>(const Pair&) const = default;
  };
  const auto ranks = static_cast<std::uint32_t>(cut.options.tensor);
  const auto from_stage = static_cast<std::uint32_t>(loan.from), to_stage = static_cast<std::uint32_t>(loan.to);
  const machine::Routes routes(machine.network);
  std::vector<Pair> pairs;
  for (std::uint32_t from = 0; from < ranks; ++from) {
    for (std::uint32_t to = 0; to < ranks; ++to) {
      const std::size_t hops =
          routes.links(cut.device({from, replica, from_stage}), cut.device({to, replica, to_stage})).size();
      pairs.push_back({hops, from, to});
    }
  }
  std::ranges::sort(pairs);
  std::vector<DeviceId> helper(ranks, no_device);
  std::vector<bool> is_taken(ranks);
  for (const Pair& pair : pairs) {
    if (helper[pair.from] != no_device || is_taken[pair.to]) continue;
    helper[pair.from] = cut.device({pair.to, replica, to_stage});
    is_taken[pair.to] = true;
  }
  return helper;
}

std::vector<DeviceId> nearest_hosts(const Cut& cut, const machine::Machine& machine, const LoanOptions& loan,
                                    std::uint32_t replica) {
  std::vector<DeviceId> hosts;
  for (std::uint32_t rank = 0; rank < cut.options.tensor; ++rank)
    hosts.push_back(nearest_host(machine, cut.device({rank, replica, static_cast<std::uint32_t>(loan.from)})));
  return hosts;
}

/// Where a device stands. InputError where it is not one of that stage.
Place place_in(const Cut& cut, std::int64_t stage, std::int64_t device) {
  const auto found = std::ranges::find(cut.devices, device);
  if (found != cut.devices.end()) {
    const Place at = cut.place(static_cast<std::uint32_t>(found - cut.devices.begin()));
    if (at.stage == stage) return at;
  }
  throw InputError(fmt::format("device {} is none of stage {}", device, stage));
}

std::vector<std::vector<DeviceId>> listed(const LoanOptions& loan, const Cut& cut) {
  if (loan.lenders.size() != loan.helpers.size())
    throw InputError(fmt::format("it lists {} lenders and {} helpers, allowed: a helper for each lender",
                                 loan.lenders.size(), loan.helpers.size()));
  if (loan.to < 0) throw InputError("it lists lenders and helpers, and names no stage that holds what they lend (to)");
  const auto ranks = static_cast<std::size_t>(cut.options.tensor);
  std::vector<std::vector<DeviceId>> helpers(static_cast<std::size_t>(cut.options.data),
                                             std::vector<DeviceId>(ranks, no_device));
  std::set<std::int64_t> holding;
  for (std::size_t i = 0; i < loan.lenders.size(); ++i) {
    const Place lender = place_in(cut, loan.from, loan.lenders[i]), helper = place_in(cut, loan.to, loan.helpers[i]);
    if (lender.copy != helper.copy)
      throw InputError(
          fmt::format("device {} is to lend to device {} of another replica", loan.lenders[i], loan.helpers[i]));
    if (helpers[lender.copy][lender.tensor] != no_device)
      throw InputError(fmt::format("device {} lends twice", loan.lenders[i]));
    helpers[lender.copy][lender.tensor] = cut.device(helper);
    if (!holding.insert(loan.helpers[i]).second)
      throw InputError(fmt::format("device {} holds twice, allowed: in another loan", loan.helpers[i]));
  }
  return helpers;
}

}  // namespace

std::vector<std::vector<DeviceId>> helpers_of(const LoanOptions& loan, const Cut& cut,
                                              const machine::Machine& machine) {
  if (!loan.lenders.empty() || !loan.helpers.empty()) return listed(loan, cut);
  std::vector<std::vector<DeviceId>> helpers;
  for (std::uint32_t replica = 0; replica < cut.options.data; ++replica)
    helpers.push_back(loan.to < 0 ? nearest_hosts(cut, machine, loan, replica) : nearest(cut, machine, loan, replica));
  return helpers;
}

std::vector<LoanPair> pairs_of(const Cut& cut, const Loan& loan) {
  std::vector<LoanPair> pairs;
  for (std::uint32_t replica = 0; replica < loan.helpers.size(); ++replica) {
    const std::vector<DeviceId>& helpers = loan.helpers[replica];
    for (std::uint32_t rank = 0; rank < helpers.size(); ++rank)
      if (helpers[rank] != no_device) pairs.push_back({cut.device({rank, replica, loan.from}), helpers[rank]});
  }
  return pairs;
}

std::vector<LoansOfDevice> loans_by_rank(const Cut& cut) {
  std::vector<LoansOfDevice> by_rank(cut.devices.size());
  if (cut.loans.empty()) return by_rank;
  std::map<DeviceId, std::size_t> rank_of;
  for (std::size_t rank = 0; rank < cut.devices.size(); ++rank) rank_of.emplace(cut.devices[rank], rank);
  for (std::uint32_t i = 0; i < cut.loans.size(); ++i) {
    for (const LoanPair& pair : pairs_of(cut, cut.loans[i])) {
      by_rank[rank_of.at(pair.lender)].lent.push_back(i);
      if (!cut.loans[i].is_to_host()) by_rank[rank_of.at(pair.helper)].held.push_back(i);
    }
  }
  return by_rank;
}

LoanBytes loan_bytes(const Cut& cut, std::uint32_t stage) {
  std::map<DeviceId, LoanBytes> by_device;
  for (const Loan& loan : cut.loans) {
    if (loan.from != stage && loan.to != stage) continue;
    for (const LoanPair& pair : pairs_of(cut, loan)) {
      if (loan.from == stage) by_device[pair.lender].lent += loan.bytes;
      if (loan.to == stage) by_device[pair.helper].room += loan.bytes * loan.at_once;
    }
  }
  LoanBytes most;
  for (const auto& [device, bytes] : by_device) {
    most.lent = std::max(most.lent, bytes.lent);
    most.room = std::max(most.room, bytes.room);
  }
  return most;
}

}  // namespace tessera::strategy::megatron
