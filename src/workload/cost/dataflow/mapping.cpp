#include "mapping.hpp"

#include <algorithm>

#include "tessera/base/integers.hpp"

namespace tessera::workload::dataflow {
namespace {

/// What comes or leaves at a step: B of the memory, all of it once over the mesh, and of a core.
struct Traffic {
  double memory = 0, core = 0;
};

class Clockwork {
 public:
  Clockwork(const Dataflow& dataflow, const Product& product, const Mapping& mapping, const Rates& rates)
      : dataflow_(dataflow), product_(product), rates_(rates), parts_(mapping.spread.parts(rates.array)) {
    const std::int64_t banks = rates.array.banks;
    takes_turns_ = banks == 1;
    read_rate_ = rates.bank * real(banks - banks / 2);
    fill_rate_ = rates.bank * real(std::max<std::int64_t>(1, banks / 2));
  }

  void step(const Step& step) {
    const Sides core = of_a_core(step.extent);
    const Traffic in = coming(step, core), out = leaving(step);
    const double working = work(core);
    const double weight = real(step.repeats);
    add(weight, working_, in, out_);
    const double again = real(step.count - 1);
    if (step.count > 1) add(weight * again, working, in, out);
    all_.accesses += step.moved * (step.count * step.repeats);
    working_ = working;
    out_ = out;
    last_core_ = core;
  }

  /// Behind the last step, when only what it left is on its way.
  [[nodiscard]] Timed result() {
    add(1, working_, {}, out_);
    return all_;
  }

 private:
  [[nodiscard]] Sides of_a_core(const Sides& extent) const {
    Sides core{};
    for (std::size_t side = 0; side < 4; ++side) core[side] = ceil_div(extent[side], parts_[side]);
    return core;
  }

  [[nodiscard]] double work(const Sides& core) const {
    if (core[of_m] == 0) return 0;
    const CoreWork work = dataflow_.work(product_, core, rates_.array);
    const std::int64_t fill = rates_.array.pe_rows + rates_.array.pe_columns - 2;
    return std::max(rates_.clock * real(core[of_batch] * work.clocks + fill),
                    real(core[of_batch] * work.bytes) / read_rate_);
  }

  [[nodiscard]] Traffic coming(const Step& step, const Sides& core) const {
    const auto [batch, m, n, k] = core;
    const Accesses& moved = step.moved;
    Traffic in{bytes_read(product_, moved), 0};
    if (moved.input > 0) in.core += product_.input * real(batch * product_.most_input_of(m) * k);
    if (moved.weights > 0) in.core += product_.weight * real(batch * product_.weights_of(n, k));
    const double sums = real(batch * product_.results_of(m, n));
    if (moved.sums_read > 0) in.core += sum_bytes * sums;
    if (moved.added > 0) in.core += product_.added * sums;
    return in;
  }

  /// Cores that share out k pass their sums on from one to the next before the last of them lets go of the total.
  [[nodiscard]] Traffic leaving(const Step& step) const {
    const Accesses& moved = step.moved;
    Traffic out{bytes_written(product_, moved), 0};
    if (moved.results == 0 && moved.sums_written == 0) return out;
    const double sums = real(last_core_[of_batch] * product_.results_of(last_core_[of_m], last_core_[of_n]));
    out.core = sums * (moved.results > 0 ? product_.result : real(sum_bytes));
    if (parts_[of_k] > 1) out.core += sums * real(sum_bytes);
    return out;
  }

  /// A step that computes for so long while the next one's tiles come and the one's before leave.
  void add(double weight, double working, const Traffic& in, const Traffic& out) {
    const double ends = 2 * real(rates_.array.rows);
    const double mesh =
        std::max(std::max(in.memory, out.memory) / (ends * rates_.link), std::max(in.core, out.core) / rates_.link);
    const double filling = (in.core + out.core) / fill_rate_;
    const double inside = takes_turns_ ? std::max(working + filling, mesh) : std::max({working, filling, mesh});
    all_.computing += weight * inside;
    all_.time += weight * std::max(inside, (in.memory + out.memory) / rates_.memory);
  }

  const Dataflow& dataflow_;
  const Product& product_;
  const Rates& rates_;
  Sides parts_;
  bool takes_turns_ = false;
  double read_rate_ = 0, fill_rate_ = 0;
  double working_ = 0;  // of the step before, which goes on while this one's tiles come
  Traffic out_;
  Sides last_core_{};
  Timed all_;
};

}  // namespace

Nest nest_of(const Product& product, const Mapping& mapping, const machine::ArraySpec& array) {
  const Sides parts = mapping.spread.parts(array);
  Nest nest{{}, mapping.order};
  for (std::size_t side = 0; side < 4; ++side)
    nest.tile[side] = std::min(product.sides[side], mapping.tile[side] * parts[side]);
  return nest;
}

bool fits(const Product& product, const Sides& tile, const machine::ArraySpec& array) {
  const auto [batch, m, n, k] = tile;
  const double operands =
      real(product.element) * (real(product.most_input_of(m)) * real(k) + real(n) * real(k) * real(product.terms_of_k));
  return 2 * (operands + real(sum_bytes) * real(m) * real(product.results_of_m) * real(n)) <= real(array.sram.value());
}

Timed timed(const Dataflow& dataflow, const Product& product, const Mapping& mapping, const Rates& rates) {
  Clockwork clockwork(dataflow, product, mapping, rates);
  execute(product, nest_of(product, mapping, rates.array), [&](const Step& step) { clockwork.step(step); });
  return clockwork.result();
}

}  // namespace tessera::workload::dataflow
