// Where a stage lends, asks back and waits, in the order of its passes.
#include <algorithm>

#include "tessera/program/loans.hpp"

namespace tessera::program {
namespace {

using Kind = PipelineAction::Kind;

PipelineAction action_of(Kind kind, std::uint32_t loan) {
  PipelineAction action;
  action.kind = kind;
  action.loan = loan;
  return action;
}

/// Of each backward pass, before which pass it is recalled; passes are numbered as the stage runs them.
std::vector<std::size_t> recalls_before(const std::vector<PipelineAction>& actions, std::uint32_t lead) {
  std::vector<std::size_t> lent_behind, before;
  std::size_t pass = 0, next = 0;
  for (const PipelineAction& action : actions) {
    if (action.kind == Kind::forward) lent_behind.push_back(pass);
    if (action.kind == Kind::backward) {
      const std::size_t early = pass > lead ? pass - lead : 0;
      before.push_back(std::max(early, lent_behind.at(next++) + 1));
    }
    pass += action.kind == Kind::forward || action.kind == Kind::backward ? 1 : 0;
  }
  return before;
}

}  // namespace

std::vector<PipelineAction> with_loan(const std::vector<PipelineAction>& actions, std::uint32_t loan,
                                      std::uint32_t lead) {
  const std::vector<std::size_t> recall_before = recalls_before(actions, lead);
  std::vector<PipelineAction> found;
  std::size_t pass = 0, recalled = 0;
  for (const PipelineAction& action : actions) {
    const bool is_pass = action.kind == Kind::forward || action.kind == Kind::backward;
    while (is_pass && recalled < recall_before.size() && recall_before[recalled] <= pass) {
      found.push_back(action_of(Kind::recall, loan));
      ++recalled;
    }
    if (action.kind == Kind::backward) found.push_back(action_of(Kind::restore, loan));
    found.push_back(action);
    if (action.kind == Kind::forward) found.push_back(action_of(Kind::lend, loan));
    pass += is_pass ? 1 : 0;
  }
  return found;
}

std::uint32_t most_lent(const std::vector<PipelineAction>& actions, std::uint32_t loan) {
  std::uint32_t lent = 0, most = 0;
  for (const PipelineAction& action : actions) {
    if (action.kind == Kind::lend && action.loan == loan) most = std::max(most, ++lent);
    if (action.kind == Kind::restore && action.loan == loan) --lent;
  }
  return most;
}

std::uint32_t most_at_home(const std::vector<PipelineAction>& actions, std::uint32_t loan) {
  std::uint32_t home = 0, leaving = 0, most = 0;
  for (const PipelineAction& action : actions) {
    const bool is_own = action.loan == loan;
    if (action.kind == Kind::forward || (action.kind == Kind::recall && is_own))
      most = std::max(most, ++home + leaving);
    if (action.kind == Kind::forward || action.kind == Kind::backward) leaving = 0;
    if (action.kind == Kind::backward || (action.kind == Kind::lend && is_own)) --home;
    if (action.kind == Kind::lend && is_own) ++leaving;
  }
  return most;
}

}  // namespace tessera::program
