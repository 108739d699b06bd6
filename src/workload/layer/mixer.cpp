#include "mixer.hpp"

#include "tessera/base/error.hpp"

namespace tessera::workload::layer {

const std::vector<MixerKind>& mixer_kinds() {
  static const std::vector<MixerKind> all = {attention_mixer(), mamba_mixer(), mamba2_mixer(), gated_delta_net_mixer(),
                                             hstu_mixer()};
  return all;
}

const MixerKind& mixer_kind(Mixer mixer) {
  for (const MixerKind& kind : mixer_kinds())
    if (kind.mixer == mixer) return kind;
  throw InternalError("a mixer that is not listed");
}

std::int64_t cache_product(std::int64_t bytes, std::initializer_list<std::int64_t> factors) {
  for (const std::int64_t factor : factors)
    if (__builtin_mul_overflow(bytes, factor, &bytes))
      throw KeyError("workload.sequence", "the keys and values that a device keeps are more than 9.2 EB");
  return bytes;
}

}  // namespace tessera::workload::layer
