// A wafer: dies on a 2D mesh.
#include "../networks/grid_network.hpp"
#include "topologies.hpp"

namespace tessera::machine {

TopologyKind mesh_topology() {
  return grid_topology(
      {.name = "mesh",
       .help = "A wafer: dies on a 2D mesh, each linked to its neighbours. XY routing: along the row to the "
               "right column, then along the column.",
       .noun = "die",
       .link_class = "d2d",
       .wrap = false});
}

}  // namespace tessera::machine
