#include "tessera/program/sublayer.hpp"

namespace tessera::program::sublayer {

bool Work::communicates() const { return !gemm.calls.empty() || gemm.map != address_map_index("local"); }

bool Work::gathers_input() const { return address_map_kinds()[gemm.input_map].gathers; }

bool Work::gathers_shards() const { return gemm.calls.empty() && address_map_kinds()[gemm.map].gathers; }

bool Work::sums() const { return gemm.calls.empty() && address_map_kinds()[gemm.map].scatters_sums; }

}  // namespace tessera::program::sublayer
