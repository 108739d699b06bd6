// GEMMs as libraries run them: the result is cut into tiles, a core computes one or two at a time, the last ones leave
// cores idle, and a tile that is too small waits for its operands.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <set>
#include <vector>

#include <fmt/format.h>

#include "cost_models.hpp"
#include "power.hpp"
#include "tessera/base/integers.hpp"

namespace tessera::workload {
namespace {

/// A GEMM that was measured.
struct Deviation {
  std::int64_t m = 0, n = 0, k = 0;
  double ratio = 0;  ///< measured over modelled time
};

const config::Schema<Deviation>& deviation_schema() {
  static const config::Schema<Deviation> schema = [] {
    config::Schema<Deviation> s("cost.tile.gemm_deviations", "A GEMM that was measured, (m x k) by (k x n).");
    const auto dimension = [&](const char* key, std::int64_t Deviation::*member, const char* help) {
      s.integer(key, member, help).at_least("1").at_most("1000000000");
    };
    dimension("m", &Deviation::m, "rows of the result");
    dimension("n", &Deviation::n, "columns of the result");
    dimension("k", &Deviation::k, "length of the sums");
    s.number("ratio", &Deviation::ratio, "measured time over that of the model without these deviations")
        .at_least("0.1")
        .at_most("10");
    return s;
  }();
  return schema;
}

/// What the matrix units and the cores around them reach.
struct ProductRates {
  double matrix_efficiency = 1;
  double matrix_limit = 0;
  std::int64_t operand_bytes_per_clock = 0;
  Time tile_latency = 0;
  std::vector<Deviation> deviations;
};

/// Of products of one datatype.
struct DatatypeRates : ProductRates {
  std::string datatype;
};

template <class T>
void add_rates(config::Schema<T>& s) {
  double T::*efficiency = &T::matrix_efficiency;
  double T::*limit = &T::matrix_limit;
  std::int64_t T::*operands = &T::operand_bytes_per_clock;
  Time T::*latency = &T::tile_latency;
  std::vector<Deviation> T::*deviations = &T::deviations;
  s.number("matrix_efficiency", efficiency, "fraction of a core's peak in the main loop of a tile")
      .at_least("0.01")
      .at_most("1")
      .otherwise("1");
  s.number("matrix_limit", limit, "fraction of peak that no GEMM exceeds from start to end, whatever its shape")
      .at_least("0.01")
      .at_most("1")
      .optional();
  s.integer("operand_bytes_per_clock", operands,
            "from the last-level cache to one core; as many as it takes when absent")
      .at_least("1")
      .optional();
  s.quantity("tile_latency", latency, config::Unit::time, "to fill a tile's pipeline: one access to device memory")
      .at_most("1 s")
      .otherwise("0 s");
  s.tables(
       "gemm_deviations", deviations, deviation_schema(),
       "GEMMs that were measured; the model returns their times, and those of others deviate as their neighbours do")
      .optional();
}

const config::Schema<DatatypeRates>& datatype_schema() {
  static const config::Schema<DatatypeRates> schema = [] {
    config::Schema<DatatypeRates> s("cost.tile.products",
                                    "GEMMs with operands of one datatype, where it has rates of its own.");
    std::vector<std::string> names = datatype_names();
    names.emplace_back("fp4");
    s.choice("datatype", &DatatypeRates::datatype, names, "of the operands");
    add_rates(s);
    return s;
  }();
  return schema;
}

struct TileParameters : cost::KernelParameters, cost::Power, ProductRates {
  bool exposed_stores = false;
  std::vector<DatatypeRates> products;

  [[nodiscard]] const ProductRates& rates(const std::string& datatype) const {
    const auto found = std::ranges::find(products, datatype, &DatatypeRates::datatype);
    return found == products.end() ? static_cast<const ProductRates&>(*this) : *found;
  }
};

config::Schema<TileParameters> make_tile_schema() {
  config::Schema<TileParameters> s(
      "cost.tile", "GEMMs by tiles and waves on the device's cores; everything else by memory traffic.");
  s.also_accept("model", "tile");
  add_rates(s);
  cost::add_attention(s);
  cost::add_memory_shares(s);
  cost::add_memory_traffic(s);
  s.choice<bool>("stores", &TileParameters::exposed_stores, {{"overlapped", false}, {"exposed", true}},
                 "result tiles leave while other tiles compute; or all cores finish a wave at the same time and share "
                 "the memory bandwidth for its results before the next wave starts")
      .otherwise("overlapped");
  cost::add_launches(s);
  cost::add_power(s);
  s.tables("products", &TileParameters::products, datatype_schema(),
           "of GEMMs by the datatype of their operands, in place of the keys of the same names")
      .optional();
  return s;
}

const config::Schema<TileParameters>& tile_schema() {
  static const config::Schema<TileParameters> instance = make_tile_schema();
  return instance;
}

struct TileShape {
  std::int64_t rows;
  std::int64_t columns;
  /// Two tiles of at most 128 x 128 fit the registers of a core with their FP32 accumulators: one computes while the
  /// other fetches or stores.
  [[nodiscard]] bool shares_core() const { return rows * columns <= 128 * 128; }
};

/// Thread-block tiles of CUTLASS's and cuBLAS's tensor-core kernels.
constexpr std::array<TileShape, 8> tile_shapes = {
    {{256, 128}, {128, 256}, {128, 128}, {256, 64}, {64, 256}, {128, 64}, {64, 128}, {64, 64}}};
/// No more than the smallest tile has.
constexpr std::int64_t few_rows = 64;
/// The main loop takes so many columns of the left operand at a time.
constexpr std::int64_t k_step = 32;
/// Slices that the sum over k may be cut into when there are too few tiles.
constexpr std::array<std::int64_t, 5> k_slices = {1, 2, 4, 8, 16};

class Tile : public CostModel {
 public:
  explicit Tile(const TileParameters& parameters)
      : CostModel(parameters, parameters.issue_interval), parameters_(parameters) {}

  [[nodiscard]] Time time(const Operator& op, const machine::DeviceSpec& device) const override {
    if (op.kind == OperatorKind::host) return op.host_time;
    if (cost::is_empty(op)) return 0;
    const double launch = cost::launch(op, parameters_.launch_overhead);
    if (op.kind == OperatorKind::gemm) return cost::round_up(product_time(op, device, launch), op, device);
    double work = cost::streaming_time(op, device, parameters_);
    if (op.kind == OperatorKind::attention)
      work = std::max(work, attention_time(op, device) + static_cast<double>(parameters_.kernel_floor));
    return cost::round_up(held(op, device, work) + launch, op, device);
  }

  [[nodiscard]] double memory_share(OperatorKind kind) const override { return parameters_.of(kind); }

  [[nodiscard]] OperatorParts parts(const Operator& op, const machine::DeviceSpec& device) const override {
    return cost::parts(*this, op, device, parameters_);
  }

 private:
  /// In ps, at the clock that the device holds.
  [[nodiscard]] double held(const Operator& op, const machine::DeviceSpec& device, double picoseconds) const {
    return picoseconds / parameters_.clock(op, device, picoseconds);
  }

  /// A GEMM that was measured for as long as it takes to warm up has its lower clock in its deviation: it is slowed
  /// down once, from the faster of what the tiles and the measurement say.
  [[nodiscard]] double product_time(const Operator& op, const machine::DeviceSpec& device, double launch) const {
    const double tiles = gemm_time(op, device, cost::memory_time(op, device, gemm_memory()));
    const double measured =
        std::max((tiles + launch) * deviation(op, parameters_.rates(op.datatype).deviations), fastest(op, device));
    const double burst = std::max(std::min(tiles + launch, measured), fastest(op, device));
    return std::max(measured, held(op, device, burst - launch) + launch);
  }

  /// What matrix_limit leaves; without one a measured GEMM may even exceed the peak that the machine file states.
  [[nodiscard]] double fastest(const Operator& op, const machine::DeviceSpec& device) const {
    const double limit = parameters_.rates(op.datatype).matrix_limit;
    return limit == 0 ? 0 : static_cast<double>(op.flops) / (cost::peak_rate(op, device) * limit);
  }

  [[nodiscard]] double gemm_memory() const { return parameters_.of(OperatorKind::gemm); }

  /// Mean of the measured neighbours' deviations, by the inverse cube of their distance; a distance of 1 is a factor of
  /// two in one dimension. Far from all of them the model stands alone.
  [[nodiscard]] static double deviation(const Operator& op, const std::vector<Deviation>& deviations) {
    constexpr double far = 3;
    double weights = 1 / (far * far * far), sum = 0;
    for (const Deviation& measured : deviations) {
      const double rows = octaves(op.batch * op.m, measured.m), columns = octaves(op.n, measured.n);
      const double depth = octaves(op.k, measured.k);
      const double distance = std::sqrt(rows * rows + columns * columns + depth * depth);
      if (distance == 0) return measured.ratio;
      const double weight = 1 / (distance * distance * distance);
      weights += weight;
      sum += weight * std::log(measured.ratio);
    }
    return std::exp(sum / weights);
  }
  [[nodiscard]] static double octaves(std::int64_t a, std::int64_t b) {
    return std::log2(static_cast<double>(a) / static_cast<double>(b));
  }

  /// What a core can do, per picosecond.
  struct Core {
    double flops;
    double operand_bytes;  ///< infinite where the clock is unknown
    double memory_bytes;   ///< its share of the memory bandwidth
  };
  [[nodiscard]] Core core_of(const Operator& op, const machine::DeviceSpec& device) const {
    const std::int64_t operand_bytes = parameters_.rates(op.datatype).operand_bytes_per_clock;
    const bool unlimited = device.clock == 0 || operand_bytes == 0;
    const double bytes = unlimited ? std::numeric_limits<double>::infinity()
                                   : static_cast<double>(operand_bytes) * static_cast<double>(device.clock) / 1e12;
    const double cores = static_cast<double>(device.cores);
    const double memory = gemm_memory() * static_cast<double>(device.memory_bandwidth.value()) / 1e12;
    return {cost::peak_rate(op, device) / cores, bytes, memory / cores};
  }

  /// The best of all tiles and slices, as the library's heuristics aim to choose. A product of few rows is a kernel
  /// that streams the other operand through the memory; others wait for their first operands as a tile does.
  [[nodiscard]] double gemm_time(const Operator& op, const machine::DeviceSpec& device, double memory) const {
    const Core core = core_of(op, device);
    const Time latency = parameters_.rates(op.datatype).tile_latency;
    double best = std::numeric_limits<double>::infinity();
    for (const TileShape& tile : tile_shapes) {
      for (const std::int64_t slices : k_slices) {
        if (slices > 1 && op.k < slices * k_step) continue;
        const double compute = compute_time(op, device.cores, core, tile, slices);
        const double streamed =
            memory + static_cast<double>(op.m <= few_rows ? std::max(parameters_.kernel_floor, latency) : latency);
        best = std::min(best, std::max(compute, streamed) + reduction_time(op, device, slices));
      }
    }
    return best;
  }

  [[nodiscard]] double compute_time(const Operator& op, std::int64_t cores, const Core& core, const TileShape& tile,
                                    std::int64_t slices) const {
    const ProductRates& rates = parameters_.rates(op.datatype);
    const std::int64_t results = op.batch * ceil_div(op.m, tile.rows) * ceil_div(op.n, tile.columns);
    const std::int64_t depth = ceil_div(ceil_div(op.k, slices), k_step) * k_step;
    const double element = static_cast<double>(bits_per_element(op.datatype)) / 8;
    const double steps = static_cast<double>(depth);
    const double arithmetic =
        2.0 * static_cast<double>(tile.rows * tile.columns) * steps / (core.flops * rates.matrix_efficiency);
    const double operands = element * static_cast<double>(tile.rows + tile.columns) * steps / core.operand_bytes;
    const double main_loop = std::max(arithmetic, operands);
    const double moved = epilogue_bytes(op, tile, slices);
    const double epilogue = moved / core.operand_bytes;
    const double latency = static_cast<double>(rates.tile_latency);
    const double tiles_per_core = static_cast<double>(ceil_div(results * slices, cores));
    if (parameters_.exposed_stores) {
      // Where two tiles share a core one fetches while the other computes, but the wave's results still leave together.
      const double store = std::max(epilogue, moved / core.memory_bytes);
      const double latencies = tile.shares_core() ? latency : tiles_per_core * latency;
      return tiles_per_core * (main_loop + store) + latencies;
    }
    if (!tile.shares_core()) return tiles_per_core * (main_loop + epilogue + latency);
    return tiles_per_core * std::max(main_loop, epilogue) + epilogue + latency;
  }

  /// Bytes that a core moves when it stores a tile: the result (and what it is added to), or an FP32 partial sum.
  [[nodiscard]] static double epilogue_bytes(const Operator& op, const TileShape& tile, std::int64_t slices) {
    const double area = static_cast<double>(tile.rows * tile.columns);
    if (slices > 1) return 4.0 * area;
    const std::int64_t operands = bits_per_element(op.datatype) * op.batch * (op.m * op.k + op.k * op.n) / 8;
    const std::int64_t added_to = op.bytes_read - operands - op.scale_bytes;
    const double moved = static_cast<double>(op.bytes_written + std::max<std::int64_t>(added_to, 0));
    return area * moved / (static_cast<double>(op.batch) * static_cast<double>(op.m) * static_cast<double>(op.n));
  }

  /// Partial sums of the slices are written and read back by a second kernel.
  [[nodiscard]] double reduction_time(const Operator& op, const machine::DeviceSpec& device,
                                      std::int64_t slices) const {
    if (slices == 1) return 0;
    const std::int64_t partial = 4 * slices * op.batch * op.m * op.n;
    const Operator sum = streaming(OperatorKind::reduction, op.name, Bytes{partial}, Bytes{partial}, op.datatype);
    return cost::memory_time(sum, device, gemm_memory()) + static_cast<double>(parameters_.launch_overhead);
  }

  /// A core takes 128 queries of one head with all their keys.
  [[nodiscard]] double attention_time(const Operator& op, const machine::DeviceSpec& device) const {
    const std::int64_t blocks = op.batch * ceil_div(op.m, 128);
    const double per_block = parameters_.flops_at_peak(op) / static_cast<double>(blocks);
    const double rounds = static_cast<double>(ceil_div(blocks, device.cores));
    const double core_peak = cost::peak_rate(op, device) / static_cast<double>(device.cores);
    return rounds * per_block / core_peak;
  }

  TileParameters parameters_;
};

/// A GEMM has one measured time. `table`: that the deviations stand in.
void refuse_twice(const std::vector<Deviation>& deviations, const config::Table& table,
                  config::Diagnostics& diagnostics) {
  std::set<std::array<std::int64_t, 3>> known;
  for (const Deviation& one : deviations) {
    if (known.insert({one.m, one.n, one.k}).second) continue;
    diagnostics.error(table.find("gemm_deviations")->where(),
                      fmt::format("\"gemm_deviations\": m = {}, n = {}, k = {} stands there twice, allowed: once",
                                  one.m, one.n, one.k));
    return;
  }
}

/// Nor has a datatype two sets of rates.
void refuse_twice(const TileParameters& parameters, const config::Table& table, config::Diagnostics& diagnostics) {
  refuse_twice(parameters.deviations, table, diagnostics);
  std::set<std::string> known;
  for (std::size_t i = 0; i < parameters.products.size(); ++i) {
    const DatatypeRates& one = parameters.products[i];
    const config::Value& place = table.find("products")->array()->at(i);
    refuse_twice(one.deviations, *place.table(), diagnostics);
    if (!known.insert(one.datatype).second)
      diagnostics.error(place.where(), "\"products\": datatype " + one.datatype + " stands there twice, allowed: once");
  }
}

}  // namespace

CostModelKind tile_kind() {
  return cost::kind_of("tile", tile_schema,
                       [](const TileParameters& parameters, const Attachments&, const config::Table& table,
                          config::Diagnostics& diagnostics) {
                         refuse_twice(parameters, table, diagnostics);
                         cost::refuse_idle_above_limit(parameters, table, diagnostics);
                         return std::make_unique<Tile>(parameters);
                       });
}

}  // namespace tessera::workload
