// The fastest of ring, hierarchical and binomial tree for a size and a group, by their closed forms.
#include <array>

#include "algorithms.hpp"

namespace tessera::program {
namespace {

constexpr std::array candidates{"ring", "binomial-tree", "hierarchical"};  // of equal ones the first is taken
constexpr double clearly = 1 - 1e-9;                                       // faster: sums are rounded

class Automatic final : public CollectiveAlgorithm {
 public:
  std::string name() const override { return "auto"; }
  std::string help() const override {
    return "ring, hierarchical or binomial-tree: whichever closed form is fastest for the size and the group";
  }
  bool supports(CollectiveKind kind) const override { return kind != CollectiveKind::all_to_all; }
  std::string check(const Collective&, const Group&, const machine::Machine&) const override { return {}; }

  const CollectiveAlgorithm& chosen(const Collective& collective, const Group& group,
                                    const machine::Machine& machine) const override {
    const CollectiveAlgorithm* fastest = nullptr;
    double least = 0;
    Collective tried = collective;
    for (const char* name : candidates) {
      tried.algorithm = algorithm_index(name);
      const CollectiveAlgorithm& candidate = algorithm_of(tried.algorithm);
      if (!candidate.supports(collective.kind) || !candidate.check(tried, group, machine).empty()) continue;
      const double time = candidate.time(tried, group, machine);
      if (fastest != nullptr && time >= least * clearly) continue;
      fastest = &candidate;
      least = time;
    }
    return *fastest;
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
