#include "primepar_attention.hpp"

#include <catch2/catch.hpp>
#include <memory>

#include "jobs.hpp"
#include "tessera/base/random.hpp"

namespace tessera::strategy::primepar {
namespace {

constexpr std::int64_t batch = 4, tokens = 8, heads = 4, queries = 2, width = 4, hidden = heads * queries * width;
constexpr std::int64_t head_columns = (queries + 2) * width;  // of a head of keys and values: queries, keys, values

/// In the place of the softmax, exact in integers: of each element by itself, and its derivative's part.
std::int64_t bent(std::int64_t value) { return value % 5; }
std::int64_t slope(std::int64_t value) { return 1 + value % 3; }

}  // namespace

AttentionBlock::AttentionBlock() {
  workload::Model model = gpt(1, hidden, heads * queries);
  model.kv_heads = heads;
  Workload workload;
  workload.global_batch = batch;
  workload.sequence = tokens;
  graph_ = make_graph("layer", model, workload);
  while (graph_.nodes[first_].op.name != "qkv") ++first_;
  REQUIRE(op(projection).name == "projection");
  make_expected();
}

/// Written out head by head, from columns of the projection as docs/primepar.md has them.
void AttentionBlock::make_expected() {
  auto& [of_qkv, of_scores, of_softmax, of_context, of_projection] = expected_;
  of_qkv.input = small_integers("x", batch * tokens, hidden);
  of_qkv.weight = small_integers("W of qkv", hidden, heads * head_columns);
  of_qkv.output = of_qkv.input * of_qkv.weight;
  of_projection.weight = small_integers("W of the projection", hidden, hidden);
  of_projection.output_gradient = small_integers("dO", batch * tokens, hidden);
  const Matrix gradient = of_projection.output_gradient * of_projection.weight.transpose();
  of_projection.input = Matrix(batch * tokens, hidden);
  of_qkv.output_gradient = Matrix::Zero(batch * tokens, heads * head_columns);
  of_scores.output = of_scores.output_gradient = of_softmax.output = of_softmax.output_gradient =
      Matrix(batch * heads * queries * tokens, tokens);
  of_scores.weight_gradient = Matrix::Zero(batch * heads * width, tokens);
  of_context.weight_gradient = Matrix::Zero(batch * heads * tokens, width);
  for (std::int64_t b = 0; b < batch; ++b) {
    for (std::int64_t h = 0; h < heads; ++h) {
      const auto block = [&](Matrix& all, std::int64_t first) {
        return all.block(b * tokens, h * head_columns + first * width, tokens, width);
      };
      const Matrix keys = block(of_qkv.output, queries), values = block(of_qkv.output, queries + 1);
      for (std::int64_t g = 0; g < queries; ++g) {
        const Matrix query = block(of_qkv.output, g), s = query * keys.transpose(), p = s.unaryExpr(&bent);
        const std::int64_t columns = (h * queries + g) * width, rows = ((b * heads + h) * queries + g) * tokens;
        of_projection.input.block(b * tokens, columns, tokens, width) = p * values;
        const Matrix dc = gradient.block(b * tokens, columns, tokens, width), dp = dc * values.transpose();
        const Matrix ds = dp.cwiseProduct(s.unaryExpr(&slope));
        block(of_qkv.output_gradient, g) = ds * keys;
        block(of_qkv.output_gradient, queries) += ds.transpose() * query;
        block(of_qkv.output_gradient, queries + 1) += p.transpose() * dc;
        of_scores.output.middleRows(rows, tokens) = s;
        of_softmax.output.middleRows(rows, tokens) = p;
        of_softmax.output_gradient.middleRows(rows, tokens) = dp;
        of_scores.output_gradient.middleRows(rows, tokens) = ds;
        of_scores.weight_gradient.middleRows((b * heads + h) * width, width) += query.transpose() * ds;
        of_context.weight_gradient.middleRows((b * heads + h) * tokens, tokens) += p.transpose() * dc;
      }
    }
  }
  of_projection.output = of_projection.input * of_projection.weight;
  of_projection.weight_gradient = of_projection.input.transpose() * of_projection.output_gradient;
  of_qkv.input_gradient = of_qkv.output_gradient * of_qkv.weight.transpose();
  of_qkv.weight_gradient = of_qkv.input.transpose() * of_qkv.output_gradient;
}

std::vector<Partition> AttentionBlock::draw(int bits, std::uint64_t number) const {
  const KeyedRandom draws(number, random_stream("attention block"));
  std::vector<Partition> found;
  for (std::size_t place = 0; place < count; ++place) {
    const std::vector<Partition> all = all_partitions(op(place), bits);
    found.push_back(all[static_cast<std::size_t>(draws.below(place, all.size()))]);
  }
  return found;
}

struct AttentionBlock::Run {
  Carrier& carrier;
  std::vector<Slices> slices;
  std::vector<std::unique_ptr<Execution>> executions;
  Traffic between;

  Execution& at(std::size_t place) { return *executions[place]; }
};

bool AttentionBlock::inside(const Edge& edge) const {
  const auto from = static_cast<std::size_t>(edge.from), to = static_cast<std::size_t>(edge.to);
  return !edge.to_next_layer && from >= first_ && to < first_ + count;
}

void AttentionBlock::train(const std::vector<Partition>& partitions, int bits, Carrier& carrier) const {
  Run run{carrier, {}, {}, {}};
  for (std::size_t place = 0; place < count; ++place) run.slices.emplace_back(op(place), partitions[place], bits);
  for (const Slices& slices : run.slices) run.executions.push_back(std::make_unique<Execution>(slices, carrier));
  for (std::size_t place = 0; place < count; ++place) forward(run, place);
  for (std::size_t place = count; place-- > 0;) backward(run, place);
  std::vector<Traffic> all{run.between};
  for (const auto& execution : run.executions) all.push_back(execution->traffic());
  for (const Traffic& traffic : all) REQUIRE(traffic.received == traffic.derived);
}

void AttentionBlock::forward(Run& run, std::size_t place) const {
  Execution& own = run.at(place);
  for (const Edge& edge : graph_.edges) {
    if (inside(edge) && static_cast<std::size_t>(edge.to) == first_ + place) read(run, edge);
  }
  if (place == qkv) own.load(Tensor::input, Phase::forward, expected_[qkv].input);
  if (op(place).kind == Kind::linear) own.load(Tensor::weight, Phase::forward, expected_[place].weight);
  if (place == softmax) {
    own.locally([](Buffers& device) { device[Tensor::output] = device[Tensor::input].unaryExpr(&bent); });
  } else {
    own.run(Phase::forward);
  }
  if (place != context) REQUIRE(own.holds(Tensor::output, Phase::forward, expected_[place].output));
}

/// What the producer left, as the consumer's operand.
void AttentionBlock::read(Run& run, const Edge& edge) const {
  const auto from = static_cast<std::size_t>(edge.from) - first_, to = static_cast<std::size_t>(edge.to) - first_;
  const SharedTensor shared(op(from), edge.shared.made);
  Known devices;
  for (const Part& part : run.at(from).parts(Tensor::output, Phase::forward))
    devices.push_back(part.values.size() == 0 ? SharedTensor::Known{}
                                              : shared.known(op(from), Tensor::output, edge.shared.made, part));
  shared.carry(devices, forward_redistribution(edge.shared, run.slices[from], run.slices[to]), run.carrier,
               run.between);
  std::vector<Part> parts;
  for (const Box& box : boxes(run.slices[to], edge.shared.operand, Phase::forward, 0)) {
    parts.push_back(poisoned(box));
    const std::size_t device = parts.size() - 1;
    if (run.carrier.has(static_cast<int>(device)))
      shared.fill(devices[device], op(to), edge.shared.operand, edge.shared.read, parts.back());
  }
  run.at(to).load(edge.shared.operand, std::move(parts));
}

void AttentionBlock::backward(Run& run, std::size_t place) const {
  Execution& own = run.at(place);
  if (place == softmax) {
    bring_gradients(run, place);
    own.locally([](Buffers& device) {
      device[Tensor::input_gradient] =
          device[Tensor::output_gradient].cwiseProduct(device[Tensor::input].unaryExpr(&slope));
    });
    REQUIRE(own.holds(Tensor::input_gradient, Phase::backward, expected_[scores].output_gradient));
    return;
  }
  own.align(Phase::backward);
  if (place == projection) {
    own.load(Tensor::output_gradient, Phase::backward, expected_[projection].output_gradient);
  } else {
    bring_gradients(run, place);
  }
  own.run(Phase::backward);
  own.align(Phase::gradient);
  own.run(Phase::gradient);
  REQUIRE(own.holds(Tensor::weight_gradient, Phase::gradient, expected_[place].weight_gradient));
  if (place == qkv) REQUIRE(own.holds(Tensor::input_gradient, Phase::backward, expected_[qkv].input_gradient));
}

/// Of all operators that read its output, each its part.
void AttentionBlock::bring_gradients(Run& run, std::size_t place) const {
  std::vector<Part> parts;
  for (const Box& box : boxes(run.slices[place], Tensor::output_gradient, Phase::backward, 0))
    parts.push_back(poisoned(box));
  for (const Edge& edge : graph_.edges) {
    if (!inside(edge) || static_cast<std::size_t>(edge.from) != first_ + place) continue;
    const std::size_t to = static_cast<std::size_t>(edge.to) - first_;
    const SharedTensor shared(op(place), edge.shared.made);
    const bool is_input = edge.shared.operand == Tensor::input;
    const Tensor gradient = is_input ? Tensor::input_gradient : Tensor::weight_gradient;
    Known devices;
    for (const Part& part : run.at(to).parts(gradient, gradient_phase(edge.shared)))
      devices.push_back(part.values.size() == 0 ? SharedTensor::Known{}
                                                : shared.known(op(to), gradient, edge.shared.read, part));
    shared.carry(devices, backward_redistribution(edge.shared, run.slices[place], run.slices[to]), run.carrier,
                 run.between);
    for (std::size_t device = 0; device < parts.size(); ++device) {
      if (run.carrier.has(static_cast<int>(device)))
        shared.fill(devices[device], op(place), Tensor::output_gradient, edge.shared.made, parts[device]);
    }
  }
  run.at(place).load(Tensor::output_gradient, std::move(parts));
}

}  // namespace tessera::strategy::primepar
