// The fastest algorithm for a size and a group, by closed forms: of those that the library has protocols of, or of all
// that are fit for any group.
#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "algorithms.hpp"
#include "protocols.hpp"
#include "tessera/machine/routes.hpp"

namespace tessera::program {
namespace {

constexpr std::array usual{"ring", "binomial-tree", "hierarchical", "direct"};  // of equal ones the first is taken
constexpr double clearly = 1 - 1e-9;                                            // faster: sums are rounded

/// Algorithms that have protocols of their own; the usual ones where none has.
std::vector<std::string> candidates_of(const Collective& collective) {
  std::vector<std::string> own;
  if (collective.protocols != nullptr) {
    for (const Protocol& protocol : *collective.protocols) {
      if (!protocol.algorithm.empty() && std::ranges::find(own, protocol.algorithm) == own.end())
        own.push_back(protocol.algorithm);
    }
  }
  return own.empty() ? std::vector<std::string>(usual.begin(), usual.end()) : own;
}

/// Of that name, among those of which the collective's algorithm is one.
AlgorithmId named(const std::string& name, const AlgorithmList& list) {
  const auto found = std::ranges::find_if(list, [&](const AlgorithmPointer& one) { return one->name() == name; });
  return {static_cast<std::uint32_t>(found - list.begin()), list};
}

/// Whether messages of the first member go over its own link, a switch and the receiver's: the closed form of `direct`
/// knows of no other members' messages on their way.
bool is_joined_by_a_switch(const Group& group, const machine::Machine& machine) {
  const machine::Routes routes(machine.network);
  bool is_joined = true;
  for (const DeviceId other : group.members) {
    if (other == group.members.front()) continue;
    routes.for_each_link({group.members.front(), other}, [&](machine::LinkId link) {
      const machine::Link& hop = machine.network.links[link];
      is_joined = is_joined && (hop.from == group.members.front() || hop.to == other);
    });
  }
  return is_joined;
}

class Automatic final : public CollectiveAlgorithm {
 public:
  std::string name() const override { return "auto"; }
  std::string help() const override {
    return "whichever closed form is fastest for the size and the group: of the algorithms that the library has "
           "protocols of, or else of ring, binomial-tree, hierarchical and, over one switch, direct";
  }
  bool supports(CollectiveKind kind) const override { return kind != CollectiveKind::all_to_all; }
  std::string check(const Collective&, const Group&, const machine::Machine&) const override { return {}; }

  Choice chosen(const Collective& collective, const Group& group, const machine::Machine& machine) const override {
    Choice best;
    double least = 0;
    Collective tried = collective;
    for (const std::string& name : candidates_of(collective)) {
      tried.algorithm = named(name, list_of(collective.algorithm));
      const CollectiveAlgorithm& candidate = algorithm_of(tried.algorithm);
      if (!candidate.supports(collective.kind) || !candidate.check(tried, group, machine).empty()) continue;
      if (name == "direct" && !is_joined_by_a_switch(group, machine)) continue;
      const Fastest found = fastest_on_wire(tried, group, machine);
      if (best.algorithm != nullptr && found.time >= least * clearly) continue;
      best = {&candidate, found.wire};
      least = found.time;
    }
    if (best.algorithm != nullptr) return best;
    tried.algorithm = named("ring", list_of(collective.algorithm));
    return algorithm_of(tried.algorithm).chosen(tried, group, machine);
  }

  // Calls are those of the chosen algorithm (lowering_of), so these are asked of a call made by hand only.
  std::uint32_t strands(const CollectiveCall& call) const override { return algorithm_of(call).strands(call); }
  std::uint32_t steps(const CollectiveCall& call) const override { return algorithm_of(call).steps(call); }
  void step(const CollectiveCall& call, std::uint32_t index, Step& step) const override {
    algorithm_of(call).step(call, index, step);
  }
};

}  // namespace

AlgorithmPointer make_automatic() { return std::make_shared<Automatic>(); }

}  // namespace tessera::program
