#include <algorithm>
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

namespace {

constexpr std::size_t most_own = 200;

/// Behind `count` names that every program has.
template <class Enum>
std::string name_behind(std::size_t count, const std::vector<std::string>& own, Enum value) {
  const auto index = static_cast<std::size_t>(value);
  if (index < count) return name_of(value);
  if (index - count >= own.size()) throw InternalError("a name that the program does not have");
  return own[index - count];
}

template <class Enum>
Enum named(std::size_t count, std::vector<std::string>& own, const std::string& name) {
  for (std::size_t i = 0; i < count; ++i) {
    if (name == name_of(static_cast<Enum>(i))) return static_cast<Enum>(i);
  }
  const auto found = std::find(own.begin(), own.end(), name);
  const auto index = static_cast<std::size_t>(found - own.begin());
  if (found == own.end()) {
    const auto is_allowed = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_'; };
    if (name.empty() || !std::all_of(name.begin(), name.end(), is_allowed) || own.size() == most_own)
      throw InternalError("\"" + name + "\" cannot be a name of an activity or a category of memory");
    own.push_back(name);
  }
  return static_cast<Enum>(count + index);
}

}  // namespace

std::string name_of(const Program& program, Activity activity) {
  return name_behind(activity_count, program.own_activities, activity);
}

std::string name_of(const Program& program, MemoryCategory category) {
  return name_behind(memory_category_count, program.own_categories, category);
}

Activity activity_named(Program& program, const std::string& name) {
  return named<Activity>(activity_count, program.own_activities, name);
}

MemoryCategory category_named(Program& program, const std::string& name) {
  return named<MemoryCategory>(memory_category_count, program.own_categories, name);
}

}  // namespace tessera::program
