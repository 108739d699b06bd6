// A small job whose units can be counted by hand, and what a device of it holds and sends.
#pragma once

#include <catch2/catch.hpp>

#include "jobs.hpp"

namespace tessera::strategy::sharded {

// Two layers of 12 h^2 + 13 h = 49,984 parameters, an embedding of 128 words and 2,048 positions of 64 numbers each,
// 139,264, and a head: the final norm, 128, and the words again, 8,192, which are tied.
inline constexpr std::int64_t layer = 49'984, embedding = 139'264, words = 8'192, norm = 128;

inline TestJob small_job(std::uint32_t devices = 4, std::int64_t layers = 2) {
  TestJob job(devices, gpt(layers, 64, 4, 128), 32);
  job.workload.sequence = 64;
  return job;
}

struct Held {
  std::int64_t weights, gradients, optimizer, buffers;
  friend bool operator==(const Held&, const Held&) = default;
};

inline Held held_by(TestJob& job, const std::string& keys, program::DeviceId device = 0) {
  using program::MemoryCategory;
  const Plan plan = sound_plan(job, keys);
  CHECK(program::memory_peak(plan.program, device).is_exact());
  const auto of = [&](MemoryCategory category) { return at_peak(plan.program, device, category); };
  return {of(MemoryCategory::weights), of(MemoryCategory::gradients), of(MemoryCategory::optimizer_state),
          of(MemoryCategory::buffers)};
}

}  // namespace tessera::strategy::sharded
