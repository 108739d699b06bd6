#include "tessera/program/copy_steps.hpp"

namespace tessera::program {
namespace {

// The first step sends what is here; later ones what has come, added to what is here unless the memory has done that.
CopySteps round_the_ring(const CopyKernel& kernel, std::uint32_t rank, std::uint32_t size) {
  const bool reduces = kernel.kind == CopyKind::reduce_scatter;
  const bool adds = reduces && !kernel.near_memory;
  CopySteps plan;
  plan.expected.resize(size, 0);
  for (std::uint32_t step = 0; step < size; ++step) {
    const std::uint32_t chunk = (rank + step) % size;
    const bool sends = step + 1 < size;
    const bool here = step == 0 || reduces;
    if (step > 0) plan.expected[chunk] = chunk_bytes(kernel, chunk, size);
    if (sends || adds)
      plan.steps.push_back({chunk, here, step > 0 && !(reduces && kernel.near_memory), step > 0,
                            sends ? (rank + size - 1) % size : rank, chunk});
  }
  return plan;
}

// To all others at a time: on a ring, both directions are in use. The slot is the distance.
CopySteps exchange(const CopyKernel& kernel, std::uint32_t rank, std::uint32_t size) {
  CopySteps plan;
  plan.expected.resize(size, chunk_bytes(kernel, rank, size));
  plan.expected[0] = 0;
  plan.in_turn = true;
  for (std::uint32_t distance = 1; distance < size; ++distance) {
    const std::uint32_t to = (rank + distance) % size;
    plan.steps.push_back({to, true, false, false, to, distance});
  }
  return plan;
}

CopySteps send(const CopyKernel& kernel, std::uint32_t rank, std::uint32_t size) {
  CopySteps plan;
  for (std::uint32_t chunk = 0; chunk < size; ++chunk) {
    plan.steps.push_back({chunk, true, false, false, (rank + 1) % size, chunk});
    plan.expected.push_back(chunk_bytes(kernel, chunk, size));
  }
  return plan;
}

CopySteps add(const CopyKernel& kernel, std::uint32_t rank, std::uint32_t size) {
  CopySteps plan;
  plan.expected.resize(size, 0);
  const std::uint32_t scattered = (rank + size - 1) % size;
  for (std::uint32_t chunk = 0; chunk < size; ++chunk) {
    if (kernel.near_memory && chunk != scattered) continue;
    plan.steps.push_back({chunk, !kernel.near_memory, true, false, rank, chunk});
    if (kernel.near_memory) plan.expected[chunk] = chunk_bytes(kernel, chunk, size);
  }
  return plan;
}

}  // namespace

std::int64_t chunk_bytes(const CopyKernel& kernel, std::uint32_t chunk, std::uint32_t size) {
  return kernel.bytes * (chunk + 1) / size - kernel.bytes * chunk / size;
}

CopySteps copy_steps(const CopyKernel& kernel, std::uint32_t rank, std::uint32_t size) {
  switch (kernel.kind) {
    case CopyKind::all_to_all:
      return exchange(kernel, rank, size);
    case CopyKind::send:
      return send(kernel, rank, size);
    case CopyKind::add:
      return add(kernel, rank, size);
    default:
      return round_the_ring(kernel, rank, size);
  }
}

}  // namespace tessera::program
