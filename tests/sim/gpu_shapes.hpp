// The GPU and the GEMMs that the tests of kernels share.
#pragma once

#include "open_rows.hpp"
#include "tessera/machine/gpu.hpp"
#include "tessera/program/kernel.hpp"

namespace tessera::test {

inline machine::GpuSpec gpu() {
  machine::GpuSpec spec;
  spec.l2_latency = 150 * nanosecond;
  spec.dram_latency = 150 * nanosecond;
  spec.work_group_time = 5 * microsecond;
  spec.starvation_limit = 1 * microsecond;
  return spec;
}

/// Blocks of 1 KiB, 32 ns each, of a memory whose rows open at once, and whose bus turns round in 10 ns. Updates take
/// 63 ns: 32 bursts, 2 ns apart.
inline machine::GpuSpec without_rows(machine::GpuSpec spec) {
  spec.granularity = spec.l2_line = 1024;
  sim::open_rows_at_once(spec);
  return spec;
}

inline program::GemmShape gemm(std::int64_t m, std::int64_t n, std::int64_t k) {
  program::GemmShape shape;
  shape.m = m;
  shape.n = n;
  shape.k = k;
  shape.peak = 80 * 2 * 512 * std::int64_t{1'400'000'000};
  return shape;
}

inline program::Kernel kernel(const program::GemmShape& shape, const char* map) {
  program::GemmKernel gemm;
  gemm.shape = shape;
  gemm.map = program::address_map_index(map);
  return {gemm};
}

}  // namespace tessera::test
