#include "hidden_layers.hpp"

#include <fmt/format.h>

#include "tessera/base/error.hpp"

namespace tessera::workload::graphs {

Volume hidden_layers(NetworkBuilder& net, const std::string& name, Volume at, const std::vector<std::int64_t>& widths) {
  if (widths.size() > 100) throw InputError(fmt::format("{} layers \"{}\", allowed: at most 100", widths.size(), name));
  for (std::size_t layer = 0; layer < widths.size(); ++layer) {
    net.scope(fmt::format("{}{}", name, layer));
    at = net.relu(net.linear(at, widths[layer]));
  }
  return at;
}

}  // namespace tessera::workload::graphs
