// The families of src/workload/graphs/, one file each.
#pragma once

#include "tessera/workload/network.hpp"

namespace tessera::workload::graphs {

[[nodiscard]] NetworkFamily resnet_family();

}  // namespace tessera::workload::graphs
