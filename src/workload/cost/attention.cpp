#include "attention.hpp"

#include <algorithm>

#include "tessera/base/time.hpp"

namespace tessera::workload::cost {

const std::vector<std::string>& attention_libraries() {
  static const std::vector<std::string> names = {"flash-attention-1", "flash-attention-triton", "flash-attention-2",
                                                 "cudnn"};
  return names;
}

const config::Schema<AttentionKernels>& attention_kernels_schema() {
  static const config::Schema<AttentionKernels> schema = [] {
    config::Schema<AttentionKernels> s("cost.attention_kernels", "How fast a library's fused attention is.");
    s.choice("library", &AttentionKernels::library, attention_libraries(), "whose kernels they are");
    s.integer("head_dim", &AttentionKernels::head_dim,
              "size of the heads they were measured for; of the library the nearest one counts, the first of two alike")
        .at_least("1")
        .at_most("65536");
    s.number("efficiency", &AttentionKernels::efficiency, "fraction of peak over many keys")
        .at_least("0.01")
        .at_most("1");
    s.integer("ramp", &AttentionKernels::ramp, "keys a query for which half of that is reached")
        .at_least("0")
        .at_most("1000000");
    return s;
  }();
  return schema;
}

double AttentionRate::flops_at_peak(const Operator& op) const {
  const AttentionKernels* own = kernels_for(op.k);
  const double efficiency = own == nullptr ? attention_efficiency : own->efficiency;
  const double ramp = static_cast<double>(own == nullptr ? attention_ramp : own->ramp);
  const double queries = static_cast<double>(op.batch) * static_cast<double>(op.m);
  const double keys = static_cast<double>(op.visible) / queries;
  return static_cast<double>(op.flops) * (1 + (keys > 0 ? ramp / keys : 0)) / efficiency;
}

const AttentionKernels* AttentionRate::kernels_for(std::int64_t head_dim) const {
  // Sizes are as near as their ratio; ratios are compared crosswise, in integers.
  const auto larger = [&](std::int64_t size) { return std::max(size, head_dim); };
  const auto smaller = [&](std::int64_t size) { return std::min(size, head_dim); };
  const AttentionKernels* nearest = nullptr;
  for (const AttentionKernels& kernels : attention_kernels) {
    if (kernels.library != attention_library) continue;
    if (nearest == nullptr) {
      nearest = &kernels;
      continue;
    }
    const std::int64_t own = kernels.head_dim, best = nearest->head_dim;
    const Int128 ratio = Int128{larger(own)} * smaller(best), least = Int128{larger(best)} * smaller(own);
    if (ratio < least || (ratio == least && own < best)) nearest = &kernels;
  }
  return nearest;
}

}  // namespace tessera::workload::cost
