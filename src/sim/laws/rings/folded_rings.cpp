// Rings across replicas of which only some are simulated (laws/fold): of their members as well.
#include <algorithm>

#include "sim/laws/fold/fold.hpp"
#include "sim/laws/rings/ring.hpp"

namespace tessera::sim {
namespace {

class FoldedRings {
 public:
  FoldedRings(RingPlan& plan, const std::vector<std::uint32_t>& simulated, const Fold& fold)
      : plan_(plan), whole_(plan.shape), simulated_(simulated), fold_(fold) {}

  bool fold() {
    if (!std::ranges::all_of(plan_.work.passes, [this](const RingPass& pass) { return is_alike(pass); })) return false;
    RingShape& shape = plan_.shape;
    shape = {{}, whole_.strands, whole_.slots, {}, {}, {}, {}};
    for (const std::uint32_t rank : simulated_) shape.members.push_back(whole_.members[rank]);
    for (std::uint32_t way = 0; way < shape.ways(); ++way) {
      const std::uint32_t of_all = way_of_all(way);
      shape.to.push_back(seat_for(whole_.to[of_all]));
      if (shape.to.back() == nobody) return false;
      shape.lanes.push_back(whole_.lanes[of_all]);
      shape.next.push_back(whole_.next[of_all]);
      shape.previous.push_back(whole_.previous[of_all]);
    }
    for (RingPass& pass : plan_.work.passes) keep_simulated(pass);
    const std::vector<std::uint32_t> senders = shape.senders();
    return std::ranges::find(senders, nobody) == senders.end();
  }

 private:
  // All members send the same on the ways of a slot.
  [[nodiscard]] bool is_alike(const RingPass& pass) const {
    for (std::uint32_t slot = 0; slot < pass.slots; ++slot) {
      const auto kinds = pass.kinds.begin() + slot * whole_.seats();
      if (std::find_if(kinds, kinds + whole_.seats(), [&](std::uint32_t kind) { return kind != *kinds; }) !=
          kinds + whole_.seats())
        return false;
    }
    return true;
  }
  [[nodiscard]] std::uint32_t seat_of_all(std::uint32_t seat) const {
    const auto members = static_cast<std::uint32_t>(simulated_.size());
    return seat / members * static_cast<std::uint32_t>(whole_.members.size()) + simulated_[seat % members];
  }
  [[nodiscard]] std::uint32_t way_of_all(std::uint32_t way) const {
    const std::uint32_t seats = plan_.shape.seats();
    return whole_.way(way / seats, seat_of_all(way % seats));
  }
  // Of whoever is simulated for the one on this seat of all.
  [[nodiscard]] std::uint32_t seat_for(std::uint32_t of_all) const {
    const auto members = static_cast<std::uint32_t>(whole_.members.size());
    const auto found = std::ranges::find(plan_.shape.members, fold_.place(whole_.members[of_all % members]).of);
    if (found == plan_.shape.members.end()) return nobody;
    return of_all / members * static_cast<std::uint32_t>(simulated_.size()) +
           static_cast<std::uint32_t>(found - plan_.shape.members.begin());
  }
  void keep_simulated(RingPass& pass) const {
    std::vector<std::uint32_t> kinds;
    for (std::uint32_t slot = 0; slot < pass.slots; ++slot)
      kinds.insert(kinds.end(), plan_.shape.seats(), pass.kinds[slot * whole_.seats()]);
    pass.kinds = std::move(kinds);
    pass.is_uniform = true;
  }

  RingPlan& plan_;
  RingShape whole_;
  const std::vector<std::uint32_t>& simulated_;
  const Fold& fold_;
};

}  // namespace

bool fold_rings(RingPlan& plan, const std::vector<std::uint32_t>& simulated, const Fold& fold) {
  return FoldedRings(plan, simulated, fold).fold();
}

// Where the group is that of all replicas that are shifted to each other. Others are taken as if all were simulated,
// and go step by step.
void RingLaws::find_places(Ring& ring) const {
  const std::vector<program::DeviceId>& members = lowerings_->program().groups[ring.group].members;
  if (!fold_->turns(ring.group)) return;
  ring.places.assign(ring.size, nobody);
  ring.size = 0;
  for (std::uint32_t rank = 0; rank < members.size(); ++rank)
    if (fold_->is_simulated(members[rank])) ring.places[rank] = ring.size++;
}

std::vector<std::uint32_t> RingLaws::Ring::simulated() const {
  std::vector<std::uint32_t> ranks(size);
  for (std::uint32_t rank = 0; rank < places.size(); ++rank)
    if (places[rank] != nobody) ranks[places[rank]] = rank;
  return ranks;
}

}  // namespace tessera::sim
