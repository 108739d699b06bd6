// Chips on a 2D torus.
#include "../networks/grid_network.hpp"
#include "topologies.hpp"

namespace tessera::machine {

TopologyKind torus_topology() {
  return grid_topology({.name = "torus",
                        .help =
                            "Chips on a 2D torus: a mesh whose edges are joined. Along the row first, then along the "
                            "column, each time the shorter way round (upwards on a tie).",
                        .noun = "chip",
                        .link_class = "ici",
                        .wrap = true});
}

}  // namespace tessera::machine
