// From what a simulated component is to what one that it stands for is: the same, but for whom it knows.
#pragma once

#include <cstdint>
#include <optional>

#include "sim/execution/device_state.hpp"
#include "sim/fold/fold.hpp"

namespace tessera::sim {

class Renaming {
 public:
  /// Of what is simulated, shifted so many times. Fold and tables outlive it.
  Renaming(const Fold& fold, const NetworkTables& tables, std::uint32_t times)
      : fold_(&fold), tables_(&tables), times_(times) {}

  /// What takes no part is left as it is: it is of something that does not matter any more.
  void component(pdes::ComponentId& id) const {
    if (id < tables_->components() && fold_->takes_part(id)) id = fold_->shifted(id, times_);
  }
  void device(machine::NodeId& id) const {
    if (tables_->is_device(id)) component(id);
  }
  void group(program::GroupId& id) const { id = fold_->shifted_group(id, times_); }
  void channel(std::uint32_t& channel) const { channel = fold_->shifted_channel(channel, times_); }
  void link(machine::LinkId& id) const {
    if (fold_->link_takes_part(id)) id = fold_->shifted_link(id, times_);
  }
  /// Of a port of component `of`; nothing where its link takes no part: nothing is there, or was.
  [[nodiscard]] std::optional<std::uint32_t> port(pdes::ComponentId of, std::uint32_t port) const;
  /// How many ports component `of` has as the one that it becomes.
  [[nodiscard]] std::uint32_t ports(pdes::ComponentId of) const;
  /// What becomes component `id`.
  [[nodiscard]] pdes::ComponentId before(pdes::ComponentId id) const { return fold_->shifted_back(id, times_); }
  void name(MessageName& name) const {
    device(name.sender);
    channel(name.channel);
  }

 private:
  const Fold* fold_;
  const NetworkTables* tables_;
  std::uint32_t times_;
};

void rename(const Renaming& renaming, Segment& segment);
void rename(const Renaming& renaming, Segments& segments);
void rename(const Renaming& renaming, Delivered& delivered);
void rename(const Renaming& renaming, Amend& amend);
/// Of component `of`.
void rename(const Renaming& renaming, pdes::ComponentId of, PortWake& wake);
/// The ports of component `of` become those that have the same links there.
void rename(const Renaming& renaming, pdes::ComponentId of, NodeState& state);
/// `id`: of the device that it becomes. It has no kernels.
void rename(const Renaming& renaming, const program::Program& program, program::DeviceId id, SavedDevice& saved);
/// The devices that it knows.
void rename_others(const Renaming& renaming, results::Interval& interval);
/// What it has written down.
void rename(const Renaming& renaming, program::DeviceId id, DeviceRecord& record);

}  // namespace tessera::sim
