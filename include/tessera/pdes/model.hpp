// The graph of components and links, checked before time zero and cut into ranks.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "tessera/pdes/component.hpp"
#include "tessera/pdes/foresight.hpp"

namespace tessera::pdes {

/// A directed link: messages of `from` reach `to` at least `latency` later.
struct LinkInfo {
  ComponentId from = 0;
  ComponentId to = 0;
  Time latency = 0;
  const ProtocolInfo* protocol = nullptr;  ///< protocol_info<P>(): it takes messages of P only; null: any
};

/// A set of consecutive components of which any may send to any other.
struct Crossbar {
  ComponentId first = 0;
  ComponentId count = 0;
  Time latency = 0;
};

/// The whole model as every rank sees it: small per component, no component objects.
struct ModelGraph {
  ComponentId components = 0;
  std::vector<LinkInfo> links;  ///< OutPort k of a component is its k-th link in this order
  std::vector<Crossbar> crossbars;
  std::vector<float> weights;  ///< expected load per component; empty: all equal
  /// Components that must share a rank: group[c] is any number, equal for those kept together. Empty: none.
  std::vector<ComponentId> groups;
  /// Position on a mesh (x, y), for rectangular tiles; empty: no geometry.
  std::vector<std::pair<int, int>> positions;
  /// Protocols of which messages that do not fit into an event may cross ranks: protocol_info<P>() of each.
  std::vector<const ProtocolInfo*> protocols;
  /// The protocol that a component handles, for checking the links that lead to it; empty: not checked.
  std::function<const ProtocolInfo*(ComponentId)> handles;
  /// A component without any link is taken for a mistake, unless it is the only one or this is set.
  bool unconnected_allowed = false;
  std::function<std::string(ComponentId)> name;  ///< for messages: "gpu 3", "switch 0 to gpu 7"
  Foresight* foresight = nullptr;  ///< of this rank; null: components promise alone. Outlives the simulation
  std::function<std::unique_ptr<Component>(ComponentId)> create;  ///< called for a rank's own components only
};

/// The model's name of a component, or "component 7" where the model has none.
[[nodiscard]] std::string name_of(const ModelGraph& model, ComponentId id);

/// Everything that can be seen before time zero. Throws InternalError, one line a problem: a link or crossbar whose end
/// does not exist, a negative latency, a component in two crossbars or without any link, a link
/// that carries what its end does not handle, sizes that do not match the
/// components, a weight below zero, no components.
void check_model(const ModelGraph& model);

}  // namespace tessera::pdes
