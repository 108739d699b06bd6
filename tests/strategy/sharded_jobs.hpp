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

// mixture(2, 4), of 512 numbers a token. An expert has two products, 4 times as wide between them, with biases;
// attention four products with biases, and the two norms of its layer; one layer is dense, with an MLP that is as an
// expert, the other one has a router of four experts. `rest` is all but experts: both layers, 1,024 words, 2,048
// positions and the final norm.
namespace mixture_parameters {
inline constexpr std::int64_t h = 512, expert = 8 * h * h + 5 * h, attention = 4 * h * h + 4 * h + 4 * h;
inline constexpr std::int64_t dense = attention + expert, router = 4 * h;
inline constexpr std::int64_t rest = dense + attention + router + (1024 + 2048) * h + 2 * h;
}  // namespace mixture_parameters

inline TestJob mixture_job(std::uint32_t devices) {
  TestJob job(devices, mixture(2, 4), 32);
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
