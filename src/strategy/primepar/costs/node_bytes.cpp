#include "node_bytes.hpp"

#include "../cuts/work.hpp"

namespace tessera::strategy::primepar {

NodeBytes node_bytes(const Graph& graph, std::size_t node, const CutNode& cut, const Passes& passes) {
  const Node& one = graph.nodes[node];
  const std::int64_t element = graph.element;
  const bool is_checkpoint = passes.recomputation && graph.reads_input(node);
  const auto kept = [&](int device) { return kept_bytes(one, cut.slices, device, element); };
  const auto input = [&](int device) { return input_bytes(cut.slices, device, element); };
  const auto freed = [&](int device) {
    return !passes.recomputation ? kept(device) : is_checkpoint ? input(device) : 0;
  };
  NodeBytes bytes;
  bytes.held = most(cut.slices, [&](int device) {
    return 2 * parameter_bytes(one, cut.slices, device, element) + passes.held() * freed(device);
  });
  bytes.freed = most(cut.slices, freed);
  if (passes.recomputation) {
    bytes.again = most(
        cut.slices, [&](int device) { return kept(device) - (is_checkpoint && one.keeps_input ? input(device) : 0); });
  }
  bytes.buffers = most(cut.slices, [&](int device) {
    std::int64_t buffers = 0;
    for (const Phase phase : all_phases) buffers = std::max(buffers, second_buffer_bytes(cut, phase, device, element));
    return buffers;
  });
  return bytes;
}

}  // namespace tessera::strategy::primepar
