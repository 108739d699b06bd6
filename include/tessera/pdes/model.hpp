// The graph of components and links, checked before time zero and cut into ranks.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "tessera/pdes/component.hpp"

namespace tessera::pdes {

/// A directed link: messages of `from` reach `to` at least `latency` later.
struct LinkInfo {
  ComponentId from = 0;
  ComponentId to = 0;
  Time latency = 0;
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
  std::vector<LinkInfo> links;          ///< OutPort k of a component is its k-th link in this order
  std::vector<Crossbar> crossbars;
  std::vector<float> weights;           ///< expected load per component; empty: all equal
  /// Components that must share a rank: group[c] is any number, equal for those kept together. Empty: none.
  std::vector<ComponentId> groups;
  /// Position on a mesh (x, y), for rectangular tiles; empty: no geometry.
  std::vector<std::pair<int, int>> positions;
  std::function<std::string(ComponentId)> name;   ///< for messages: "gpu 3", "switch 0 to gpu 7"
  std::function<std::unique_ptr<Component>(ComponentId)> create;   ///< called for a rank's own components only
};

}  // namespace tessera::pdes
