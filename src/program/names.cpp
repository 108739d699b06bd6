#include <array>

#include "tessera/base/error.hpp"
#include "tessera/program/evaluator.hpp"
#include "tessera/program/kernel.hpp"
#include "tessera/program/program.hpp"

namespace tessera::program {
namespace {

template <std::size_t Count, class Enum>
const char* name_in(const std::array<const char*, Count>& names, Enum value) {
  const auto index = static_cast<std::size_t>(value);
  if (index >= Count) throw InternalError("an enumerator without a name");
  return names[index];
}

}  // namespace

const char* name_of(Activity activity) {
  static constexpr std::array<const char*, activity_count> names{"forward",
                                                                 "backward",
                                                                 "recomputation",
                                                                 "optimizer",
                                                                 "tensor_communication",
                                                                 "data_communication",
                                                                 "pipeline_communication",
                                                                 "expert_communication",
                                                                 "redistribution",
                                                                 "other_communication",
                                                                 "waiting",
                                                                 "bubble",
                                                                 "idle"};
  return name_in(names, activity);
}

const char* name_of(MemoryCategory category) {
  static constexpr std::array<const char*, memory_category_count> names{"weights",     "gradients", "optimizer_state",
                                                                        "activations", "kv_cache",  "buffers"};
  return name_in(names, category);
}

const char* name_of(Fidelity fidelity) {
  static constexpr std::array<const char*, 3> names{"lower-bound", "estimate", "simulated"};
  return name_in(names, fidelity);
}

const char* name_of(CollectiveKind kind) {
  static constexpr std::array<const char*, 5> names{"all-reduce", "reduce-scatter", "all-gather", "all-to-all",
                                                    "broadcast"};
  return name_in(names, kind);
}

std::string_view name_of(CopyKind kind) {
  static constexpr std::array<const char*, 5> names{"reduce-scatter", "all-gather", "all-to-all", "send", "addition"};
  return name_in(names, kind);
}

}  // namespace tessera::program
