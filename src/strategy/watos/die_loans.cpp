#include "die_loans.hpp"

#include <algorithm>
#include <map>

#include "tessera/machine/routes.hpp"

namespace tessera::strategy::watos {
namespace {

using machine::NodeId;

/// What one die lends to another one.
struct Flow {
  std::uint32_t helper = 0;  ///< stage
  NodeId from = 0, to = 0;
  std::int64_t bytes = 0;  ///< of a micro-batch
};

/// Of one replica.
class Dealing {
 public:
  Dealing(const Problem& problem, const Solution& solution, const machine::Machine& machine, std::uint32_t replica)
      : problem_(problem), solution_(solution), routes_(machine.network), replica_(replica) {
    for (std::size_t stage = 0; stage < problem.count(); ++stage) {
      const std::int64_t spare = -demand(problem, stage, solution.sets[stage]);
      for (const NodeId die : dies_of(stage)) spare_.emplace(die, spare);
    }
  }

  /// Of all that a stage lends, by helper. Nothing is left open, or it does not come out even.
  std::vector<Flow> flows_of(std::uint32_t sender, const std::map<std::uint32_t, std::int64_t>& bytes) {
    std::vector<Way> ways;
    std::int64_t each = 0;
    std::map<NodeId, std::int64_t> open;
    std::map<std::uint32_t, std::int64_t> quota;
    const std::vector<NodeId>& lenders = dies_of(sender);
    for (const auto& [helper, some] : bytes) {
      each += some;
      quota[helper] = some * static_cast<std::int64_t>(lenders.size());
      for (std::uint32_t from = 0; from < lenders.size(); ++from)
        for (std::uint32_t to = 0; to < dies_of(helper).size(); ++to)
          ways.push_back({routes_.links(lenders[from], dies_of(helper)[to]).size(), from, to, helper});
    }
    for (const NodeId die : lenders) open[die] = each;
    std::ranges::sort(ways);
    std::vector<Flow> flows;
    // Each piece is a message: a die's all goes to one other die, as long as there is one with room for it.
    for (const std::int64_t least : {each, std::int64_t{1}}) {
      for (const Way& way : ways) {
        const Flow flow = flow_along(sender, way, open[lenders[way.from]], quota[way.helper]);
        if (flow.bytes < least) continue;
        open[flow.from] -= flow.bytes;
        quota[way.helper] -= flow.bytes;
        spare_[flow.to] -= flow.bytes * problem_.stages[sender].at_once;
        flows.push_back(flow);
      }
    }
    is_even_ = is_even_ && std::ranges::all_of(open, [](const auto& one) { return one.second == 0; });
    return flows;
  }
  [[nodiscard]] bool is_even() const { return is_even_; }

 private:
  struct Way {
    std::size_t hops = 0;
    std::uint32_t from = 0, to = 0, helper = 0;  // tensor ranks, and the helper's stage
    auto operator<=>(const Way&) const = default;
  };

  [[nodiscard]] const std::vector<NodeId>& dies_of(std::size_t stage) const {
    return problem_.places[solution_.place(problem_, stage, replica_)].devices;
  }

  [[nodiscard]] Flow flow_along(std::uint32_t sender, const Way& way, std::int64_t open, std::int64_t quota) const {
    Flow flow{way.helper, dies_of(sender)[way.from], dies_of(way.helper)[way.to], 0};
    flow.bytes = std::min({open, quota, spare_.at(flow.to) / problem_.stages[sender].at_once});
    return flow;
  }

  const Problem& problem_;
  const Solution& solution_;
  machine::Routes routes_;
  std::uint32_t replica_;
  std::map<NodeId, std::int64_t> spare_;  // B
  bool is_even_ = true;
};

/// To the first loan of as many bytes between those stages that has neither of the two dies.
void add(std::uint32_t sender, const Flow& flow, std::vector<DieLoan>& loans) {
  const auto has = [](const std::vector<NodeId>& dies, NodeId die) {
    return std::ranges::find(dies, die) != dies.end();
  };
  auto loan = std::ranges::find_if(loans, [&](const DieLoan& one) {
    return one.pair == Pair{sender, flow.helper} && one.bytes == flow.bytes && !has(one.lenders, flow.from) &&
           !has(one.helpers, flow.to);
  });
  if (loan == loans.end()) loan = loans.insert(loans.end(), {{sender, flow.helper}, flow.bytes, {}, {}});
  loan->lenders.push_back(flow.from);
  loan->helpers.push_back(flow.to);
}

}  // namespace

std::vector<DieLoan> die_loans(const Problem& problem, const Solution& solution, const std::vector<PairedBytes>& loans,
                               const machine::Machine& machine) {
  std::vector<std::uint32_t> senders;  // in the order in which their pairs are first
  std::map<std::uint32_t, std::map<std::uint32_t, std::int64_t>> bytes;
  for (const PairedBytes& loan : loans) {
    if (!bytes.contains(loan.pair.sender)) senders.push_back(loan.pair.sender);
    bytes[loan.pair.sender][loan.pair.helper] += loan.bytes;
  }
  std::vector<DieLoan> found;
  for (std::uint32_t replica = 0; replica < problem.replicas; ++replica) {
    Dealing dealing(problem, solution, machine, replica);
    for (const std::uint32_t sender : senders)
      for (const Flow& flow : dealing.flows_of(sender, bytes[sender])) add(sender, flow, found);
    if (!dealing.is_even()) return {};
  }
  return found;
}

}  // namespace tessera::strategy::watos
