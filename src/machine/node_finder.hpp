// Nodes as machine files write them: by number, by name, by coordinates.
#pragma once

#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "tessera/base/config.hpp"
#include "tessera/machine/machine.hpp"

namespace tessera::machine {

/// Finds nodes of a machine, or reports what there is instead; `key` is the one that is to blame.
class NodeFinder {
 public:
  /// Both outlive it.
  NodeFinder(const Machine& machine, config::Diagnostics& diagnostics) : machine_(machine), diagnostics_(diagnostics) {}

  std::optional<NodeId> device(std::int64_t number, const config::Location& where);
  /// [x, y], of several grids [x, y, grid].
  std::optional<NodeId> at_place(const std::vector<std::int64_t>& place, const char* key,
                                 const config::Location& where);
  std::optional<NodeId> host(const std::string& name, const config::Location& where);
  std::optional<NodeId> switch_called(const std::string& name, const config::Location& where);
  /// A name or coordinates, as nodes_field() has checked.
  std::optional<NodeId> node(const config::Value& value, const char* key);

 private:
  std::nullopt_t error(const config::Location& where, const std::string& key, const std::string& what);
  std::nullopt_t off_the_grid(const std::vector<std::int64_t>& place, const char* key, const config::Location& where);
  [[nodiscard]] std::string hosts() const;

  const Machine& machine_;
  config::Diagnostics& diagnostics_;
  std::unordered_map<std::string, NodeId> by_name_;  // filled when the first name is looked up
};

/// As names stand in messages.
[[nodiscard]] std::string quoted(const std::string& text);
/// The coordinates that nodes_field() has let through.
[[nodiscard]] std::vector<std::int64_t> coordinates_of(const config::Array& place);
/// "nvswitch 0" to "nvswitch 7", "core": names that differ in their last number only, as one range.
[[nodiscard]] std::string ranges_of(const std::vector<std::string>& names);

}  // namespace tessera::machine
