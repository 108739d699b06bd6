// What the stages of a pipeline keep and take, as a strategy tells it to others that search over its tables: numbers,
// and collectives that whoever places the stages prices where it puts them.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "tessera/base/time.hpp"
#include "tessera/program/program.hpp"
#include "tessera/workload/transformer.hpp"

namespace tessera::strategy {

/// A collective that a device of a stage takes part in.
struct GroupWork {
  /// Who takes part, by number in the stage (replica x tensor ranks + tensor rank), of the group of its first device.
  std::vector<std::uint32_t> ranks;
  program::Collective collective;
  Time beside = 0;  ///< ps: operators of the same work that it runs beside
};

/// What a device does in one go.
struct Work {
  Time operators = 0;  ///< ps, one after another at normal speed
  std::vector<GroupWork> collectives;
  Work& operator+=(const Work& other);
};

/// A layer of one kind, of a micro-batch on one device.
struct LayerProfile {
  /// Forward, by section: sections that only run together stand at the first of them.
  std::array<Work, workload::LayerOperators::section_count> sections;
  Work backward;  ///< where nothing runs again
  [[nodiscard]] Work forward() const;
};

/// Sections of each layer that may run again together, and what is kept then.
struct SetProfile {
  workload::Recomputed recomputed;
  std::vector<std::int64_t> kept;   ///< B of a layer and micro-batch, by kind of layers
  std::vector<std::int64_t> again;  ///< B that are made again at once, at most, by kind
};

/// One stage, on each of its devices.
struct StageProfile {
  std::vector<std::int64_t> layers;  ///< by kind
  std::int64_t held = 0;             ///< B from the first to the last moment
  std::int64_t edge_kept = 0;        ///< B of a micro-batch, of embedding and head
  Work edge_forward, edge_backward;  ///< embedding and head
  Work update;                       ///< behind the last micro-batch
};

/// A pipeline, whatever runs again.
struct PipelineProfile {
  std::vector<LayerProfile> layers;  ///< by the model's kinds of layers
  std::vector<SetProfile> sets;      ///< all that the model's layers can run again: those with a name, and all others
  workload::Recomputed given;        ///< what the first stage runs again by the table's own keys; default: none
  std::vector<StageProfile> stages;  ///< in order
  Work arrival;                      ///< of each activation and each gradient from another stage, on each device
  std::int64_t micro_batches = 0;    ///< of a replica
  std::int64_t part_bytes = 0;       ///< B that a device sends to the next stage, and to the one before
};

}  // namespace tessera::strategy
