#include "solver.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "tessera/base/error.hpp"

namespace tessera::strategy::mcm {

void Solver::init(const KeyedRandom& random, const Partition* candidate) {
  random_ = random;
  attempt_ = taken_back_ = 0;
  is_listing_ = exhausted_ = false;
  decisions_.clear();
  if (candidate != nullptr)
    fit(*candidate);
  else
    begin(0, random_);
}

const ChipSet& Solver::get_domain(NodeId node) {
  get(wiring_->place_of[node], domain_);
  return domain_;
}

std::size_t Solver::set_domain(NodeId node, const ChipSet& domain) {
  const Place place = wiring_->place_of[node];
  ++effort_.decisions;
  push();
  decisions_.push_back({place, domain});
  if (narrow(place, domain)) return decisions_.size();
  ++effort_.failures;
  return refute();
}

std::size_t Solver::refute() {
  const ChipSet all = ChipSet::range(0, max_chips - 1);
  while (!decisions_.empty() && (is_listing_ || taken_back_ <= patience())) {
    const Decision last = decisions_.back();
    decisions_.pop_back();
    pop();
    if (narrow(last.place, all - last.domain)) return decisions_.size();
    ++taken_back_;
    ++effort_.failures;
  }
  if (is_listing_)
    exhausted_ = true;
  else
    restart();
  return 0;
}

void Solver::restart() {
  ++effort_.restarts;
  decisions_.clear();
  taken_back_ = 0;
  begin(++attempt_, random_);
}

bool Solver::list(std::size_t index) {
  is_listing_ = true;
  exhausted_ = false;
  taken_back_ = 0;
  decisions_.clear();
  return begin_listed(index);
}

std::unique_ptr<Solver> make_solver(std::string_view name, const Wiring& wiring) {
  std::string names;
  for (const TemplateKind& kind : template_kinds()) {
    if (kind.name == name) return kind.make(wiring);
    names += (names.empty() ? "" : ", ") + kind.name;
  }
  throw InputError(fmt::format("no template \"{}\": there are {}", name, names));
}

void enumerate(Solver& solver, const Wiring& wiring, const std::function<void(const Partition&)>& visit) {
  Partition found(wiring.nodes);
  for (std::size_t index = 0; solver.list(index); ++index) {
    std::size_t decided = 0;
    while (!solver.exhausted()) {
      if (decided < wiring.nodes) {
        const NodeId node = wiring.order[decided];
        const auto chip = static_cast<ChipId>(solver.get_domain(node).first());
        found[node] = chip;
        decided = solver.set_domain(node, ChipSet::of(chip));
      } else {
        visit(found);
        decided = solver.refute();
      }
    }
  }
}

std::uint32_t fewer_chips(std::uint32_t chips, std::uint32_t attempt) {
  for (; attempt > 0 && chips > 1; --attempt) chips -= (chips + 3) / 4;
  return std::max(chips, 1U);
}

}  // namespace tessera::strategy::mcm
