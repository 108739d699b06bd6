// Linear layers with a ReLU behind each other: what perceptrons, recommendation and the heads of old classifiers share.
#pragma once

#include <string>
#include <vector>

#include "network_builder.hpp"

namespace tessera::workload::graphs {

/// Named `name` and their index. InputError for more than 100.
Volume hidden_layers(NetworkBuilder& net, const std::string& name, Volume at, const std::vector<std::int64_t>& widths);

}  // namespace tessera::workload::graphs
