// Replicas that do the same: some of them are simulated, for all.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "sim/laws/fold/orbits.hpp"
#include "sim/network/network_tables.hpp"
#include "sim/network/stand_in.hpp"
#include "tessera/program/program.hpp"

namespace tessera::sim {

/// A way to exchange devices and links under which machine and program look the same: the shift. It takes part r to
/// part r + block (modulo their number), device by device, and each link that a message takes to the one in the same
/// place of the message's way there. Shifted `order` times, everything is where it was, and nothing is before. Links
/// that no message takes have no part in it: a device at the edge of a mesh may have fewer of them. Only the first
/// `block` parts and the links that they use are simulated, or those that they come to by some shifts. What one of
/// their devices sends to another part comes to the simulated one of its receivers, as from that part which is so
/// far behind it as the sender was behind its receiver: the names of both are shifted back.
///
/// By ends: no such shift, but every device still does what the one that is simulated for it does, with peers of which
/// the same may be said, each as many ranks further on in a group of its own. So groups need not be shifted to each
/// other: those of the experts end where the data-parallel ring goes on. What a device sends to another part comes to
/// the simulated one of its receivers as from whoever sends it there: the member of that one's own group that is as
/// many ranks behind it. Every link that messages take is the sender's or the receiver's alone, and is simulated with
/// it.
class Fold final : public StandIn {
 public:
  /// `block` divides the number of parts. All outlive it.
  Fold(const program::Program& program, const program::AlikeParts& alike, const NetworkTables& tables,
       std::uint32_t block, bool by_ends = false);

  [[nodiscard]] bool goes_by_ends() const { return by_ends_; }
  [[nodiscard]] std::uint32_t block() const { return block_; }
  /// Number of components that one simulated one stands for.
  [[nodiscard]] std::uint32_t order() const { return order_; }
  /// The same, where what is simulated is so many shifts further on.
  [[nodiscard]] Fold simulated_at(std::uint32_t base) const;
  /// Whether a component is one that is simulated, or is like one.
  [[nodiscard]] bool takes_part(pdes::ComponentId id) const { return components_.has(id); }
  [[nodiscard]] bool is_simulated(pdes::ComponentId id) const override {
    return takes_part(id) && components_.shifts(id) == base_;
  }
  /// Of a component that takes part.
  [[nodiscard]] Place place(pdes::ComponentId id) const override {
    const std::uint32_t shifts = shifts_behind(components_.shifts(id));
    return {components_.shifted(id, order_ - shifts), shifts};
  }
  [[nodiscard]] pdes::ComponentId shifted(pdes::ComponentId id, std::uint32_t times) const {
    return components_.shifted(id, times);
  }
  [[nodiscard]] pdes::ComponentId shifted_back(pdes::ComponentId id, std::uint32_t times) const {
    return shifted(id, order_ - times);
  }
  /// The group that a device so many shifts behind `member` of this one has in its place.
  [[nodiscard]] program::GroupId group_of_shifted(program::GroupId group, program::DeviceId member,
                                                  std::uint32_t times) const;
  /// What a device so many shifts behind this one has in the place of a peer.
  [[nodiscard]] program::DeviceId peer_of_shifted(program::DeviceId device, program::DeviceId peer,
                                                  std::uint32_t times) const;
  /// Whether a shift takes a group's members to each other, each as many ranks further on.
  [[nodiscard]] bool turns(program::GroupId group) const;
  // Where it does not go by ends:
  [[nodiscard]] program::GroupId shifted_group(program::GroupId group, std::uint32_t times) const;
  [[nodiscard]] std::uint32_t shifted_channel(std::uint32_t channel, std::uint32_t times) const;
  /// Whether messages of what is simulated or is like it take a link.
  [[nodiscard]] bool link_takes_part(machine::LinkId link) const { return links_.has(link); }
  // Of a link that takes part:
  [[nodiscard]] machine::LinkId shifted_link(machine::LinkId link, std::uint32_t times) const {
    return links_.shifted(link, times);
  }
  /// The one that is simulated for it.
  [[nodiscard]] machine::LinkId simulated_link(machine::LinkId link) const {
    return links_.shifted(link, order_ - link_shifts(link));
  }
  /// Shifts to it from there.
  [[nodiscard]] std::uint32_t link_shifts(machine::LinkId link) const { return shifts_behind(links_.shifts(link)); }
  [[nodiscard]] const std::vector<program::DeviceId>& devices() const override { return devices_; }
  pdes::ComponentId as_received(pdes::ComponentId sender, const Ahead& ahead, Segment& message) const override;
  pdes::ComponentId as_received(pdes::ComponentId sender, const Ahead& ahead, Delivered& message) const override;
  pdes::ComponentId as_received(pdes::ComponentId sender, const Ahead& ahead, Amend& message) const override;
  /// Replicas among which the order of component numbers is another one, wherever something may come from two sides:
  /// shifts to one of each kind. What comes first of what comes at the same time may differ between them.
  [[nodiscard]] const std::vector<std::uint32_t>& orders() const { return orders_; }
  /// A simulated component to which something may come from two sides, of which another one comes first in other
  /// parts, and the links over which something comes to it; by ends the pairs of sides instead, in order.
  struct Contested {
    pdes::ComponentId at = 0;
    std::vector<machine::LinkId> links;
    std::vector<std::pair<pdes::ComponentId, pdes::ComponentId>> pairs;
  };
  [[nodiscard]] const std::vector<Contested>& contested() const { return contested_; }

  // While it is being found (find_fold.hpp):
  /// Link `other` is link `first`, shifted so many times. False: that contradicts what is known, or a device that
  /// serves one is not the shifted one of the other.
  [[nodiscard]] bool add_link(const NetworkTables& tables, machine::LinkId first, machine::LinkId other,
                              std::uint32_t times);
  /// The same by ends, of links that are those of two devices alone.
  [[nodiscard]] bool add_own_link(const NetworkTables& tables, machine::LinkId first, program::DeviceId of_first,
                                  machine::LinkId other, program::DeviceId of_other);
  void set_orders(std::vector<std::uint32_t> orders, std::vector<Contested> contested) {
    orders_ = std::move(orders);
    contested_ = std::move(contested);
  }

 private:
  [[nodiscard]] std::uint32_t shifts_behind(std::uint32_t shifts) const {
    return shifts >= base_ ? shifts - base_ : shifts + order_ - base_;
  }
  template <class Message>
  pdes::ComponentId renamed(pdes::ComponentId sender, const Ahead& ahead, Message& message) const;
  template <class Message>
  pdes::ComponentId renamed_by_ends(program::DeviceId destination, Message& message) const;
  [[nodiscard]] MessageName name_at_ends(const MessageName& name, program::DeviceId destination) const;

  const program::Program* program_;
  std::uint32_t block_ = 1, order_ = 1, base_ = 0;
  bool by_ends_ = false;
  Orbits components_, links_;
  std::vector<std::uint32_t> slots_;  // by group: in which its members have it
  std::vector<program::DeviceId> devices_;
  std::vector<std::uint32_t> orders_{0};
  std::vector<Contested> contested_;
};

}  // namespace tessera::sim
