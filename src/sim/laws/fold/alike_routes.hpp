// Whether the ways of messages are alike in all parts.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "sim/laws/fold/fold.hpp"
#include "tessera/machine/machine.hpp"

namespace tessera::sim {

/// Adds the links that messages take to a fold.
class AlikeRoutes {
 public:
  /// `name`: of the parts that are alike. All outlive it.
  AlikeRoutes(const machine::Machine& machine, const NetworkTables& tables, const std::string& name, Fold& fold)
      : machine_(&machine), tables_(&tables), name_(&name), fold_(&fold) {}

  /// The way from a simulated device to another device, and where it leads in the other parts.
  [[nodiscard]] bool add(program::DeviceId from, program::DeviceId to);
  /// Behind all ways: Fold::orders() and Fold::contested().
  void find_orders();
  /// Why add() was false.
  [[nodiscard]] const std::string& problem() const { return problem_; }

 private:
  [[nodiscard]] bool is_like(machine::LinkId first, machine::LinkId other, std::uint32_t times);
  [[nodiscard]] std::vector<std::uint32_t> places_in_order(std::uint32_t times) const;
  [[nodiscard]] std::vector<Fold::Contested> find_contested(const std::vector<std::uint32_t>& orders) const;
  void add_source(pdes::ComponentId at, machine::LinkId link);

  const machine::Machine* machine_;
  const NetworkTables* tables_;
  const std::string* name_;
  Fold* fold_;
  std::vector<std::pair<pdes::ComponentId, machine::LinkId>> sources_;  // simulated component, over what it is sent to
  std::string problem_;
};

}  // namespace tessera::sim
