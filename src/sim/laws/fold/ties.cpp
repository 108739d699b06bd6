#include "sim/laws/fold/ties.hpp"

#include <algorithm>

namespace tessera::sim {
namespace {

constexpr std::uint32_t none = ~std::uint32_t{0};

}  // namespace

PossibleTies::PossibleTies(const Fold& fold, const NetworkTables& tables)
    : fold_(&fold), tables_(&tables), contested_of_(tables.components(), none), coming_(fold.contested().size()) {
  for (std::uint32_t i = 0; i < fold.contested().size(); ++i) contested_of_[fold.contested()[i].at] = i;
}

void PossibleTies::comes(pdes::ComponentId at, pdes::ComponentId source, Time now) {
  if (any_ || contested_of_[at] == none) return;
  std::vector<Coming>& coming = coming_[contested_of_[at]];
  std::erase_if(coming, [&](const Coming& one) { return one.last < now; });
  any_ = std::ranges::any_of(coming, [&](const Coming& one) { return is_critical(at, one.source, source); });
  const auto known = std::ranges::find(coming, source, &Coming::source);
  if (known == coming.end()) coming.push_back({source, now});
}

// The port itself takes turns with all of them: it is busy until one of them comes, or with messages of its device.
void PossibleTies::come(pdes::ComponentId at, pdes::ComponentId source, Time now, Time last, bool meets) {
  if (any_ || contested_of_[at] == none) return;
  comes(at, source, now);
  const auto known = std::ranges::find(coming_[contested_of_[at]], source, &Coming::source);
  known->last = std::max(known->last, last);
  any_ = any_ || is_critical(at, at, source) || (meets && is_in_any(at, source));
}

bool PossibleTies::is_critical(pdes::ComponentId at, pdes::ComponentId a, pdes::ComponentId b) {
  if (b < a) std::swap(a, b);
  const auto [known, is_new] = known_.try_emplace({at, a, b});
  if (is_new) known->second = a == b ? links_change_order(at, a) : changes_order(a, b);
  return known->second;
}

bool PossibleTies::changes_order(pdes::ComponentId a, pdes::ComponentId b) const {
  for (std::uint32_t times = 1; times < fold_->order(); ++times)
    if (fold_->shifted(b, times) < fold_->shifted(a, times)) return true;
  return false;
}

// Where one has several links to the component.
bool PossibleTies::links_change_order(pdes::ComponentId at, pdes::ComponentId source) const {
  std::vector<machine::LinkId> links = fold_->contested()[contested_of_[at]].links;
  std::erase_if(links, [&](machine::LinkId link) { return tables_->server(link) != source; });
  for (std::uint32_t times = 1; times < fold_->order(); ++times) {
    const auto place = [&](machine::LinkId link) { return fold_->shifted_link(link, times); };
    if (!std::ranges::is_sorted(links, {}, place)) return true;
  }
  return false;
}

// With whatever else comes to it.
bool PossibleTies::is_in_any(pdes::ComponentId at, pdes::ComponentId source) {
  const std::vector<machine::LinkId>& links = fold_->contested()[contested_of_[at]].links;
  return std::ranges::any_of(links,
                             [&](machine::LinkId link) { return is_critical(at, tables_->server(link), source); });
}

}  // namespace tessera::sim
