#include "branches.hpp"

namespace tessera::workload::graphs {

Volume chain(NetworkBuilder& net, Volume at, const Chain& steps) {
  for (const ChainStep& step : steps) {
    Window window{step.height, step.width, step.stride, step.stride, 0, 0, 1, false};
    if (step.stride == 1 && !step.valid) {
      window.pad_down = step.height / 2;
      window.pad_right = step.width / 2;
    }
    at = net.relu(net.conv(at, step.channels, window));
  }
  return at;
}

Volume branches(NetworkBuilder& net, const Volume& in, const Branches& all) {
  std::vector<Volume> ends;
  for (const Chain& steps : all.chains) ends.push_back(chain(net, in, steps));
  if (all.halves) ends.push_back(net.max_pool(in, inside(3, 2)));
  if (all.pooled > 0) ends.push_back(chain(net, net.average_pool(in, same(3)), {{1, 1, all.pooled}}));
  return net.concat(ends);
}

Volume split_chain(NetworkBuilder& net, const Volume& in, const Chain& steps, std::int64_t channels) {
  const Volume at = chain(net, in, steps);
  return net.concat({chain(net, at, {{1, 3, channels}}), chain(net, at, {{3, 1, channels}})});
}

}  // namespace tessera::workload::graphs
