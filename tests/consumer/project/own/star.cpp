#include "own.hpp"

namespace own {
namespace {

using namespace tessera;
using program::CollectiveCall;
using program::CollectiveKind;
using program::Step;

class Star final : public program::CollectiveAlgorithm {
 public:
  std::string name() const override { return "star"; }
  std::string help() const override { return "everyone to the first member and back"; }
  bool supports(CollectiveKind kind) const override { return kind == CollectiveKind::all_reduce; }
  std::string check(const program::Collective&, const program::Group&, const machine::Machine&) const override {
    return {};
  }
  std::uint32_t steps(const CollectiveCall& call) const override {
    if (call.size == 1) return 0;
    return call.rank == 0 ? 2 : 1;
  }
  void step(const CollectiveCall& call, std::uint32_t index, Step& step) const override {
    step.clear();
    const std::int64_t bytes = call.collective->bytes.value();
    if (call.rank != 0) {  // one step: what is sent does not depend on what is received
      step.sends.push_back({0, bytes});
      step.receives.push_back({0, bytes});
      return;
    }
    for (std::uint32_t peer = 1; peer < call.size; ++peer) {
      if (index == 0) {
        step.receives.push_back({peer, bytes, 0, true});
        step.reduce += bytes;
      } else {
        step.sends.push_back({peer, bytes});
      }
    }
  }
};

}  // namespace

program::AlgorithmPointer star_collective() { return std::make_shared<Star>(); }

}  // namespace own
