// What a search adds up.
#include "strategy/primepar/costs/costs.hpp"

#include <catch2/catch.hpp>

#include <map>

#include "jobs.hpp"
#include "strategy/primepar/cuts/layouts.hpp"
#include "tessera/base/random.hpp"

using namespace tessera;
using namespace tessera::strategy::primepar;

namespace {

using Moved = std::map<std::pair<int, int>, std::int64_t>;

Moved moved(const std::vector<Piece>& pieces) {
  Moved found;
  for (const Piece& piece : pieces) found[{piece.from, piece.to}] += piece.elements();
  return found;
}

/// All-reduces of groups of g that take 7 us and g ns for each 1,000 B. Kernels: a product 9 us, gathering 1 ns for
/// each 1,000 B, scattering 2 ns near memory and 3 ns otherwise.
class MadeUpEvaluator final : public program::Evaluator {
 public:
  program::Evaluation evaluate(const program::Program& program, program::Fidelity, Communicator&) override {
    ++runs;
    const auto members = static_cast<std::int64_t>(program.groups.at(0).members.size());
    if (!program.collectives.empty()) return {true, {}, 7'000'000 + members * program.collectives.at(0).bytes.value()};
    const auto* copy = std::get_if<program::CopyKernel>(&program.kernels.at(0).work);
    if (copy == nullptr) {
      device = program.groups[0].members[0];
      return {true, {}, 9'000'000};
    }
    const std::int64_t rate = copy->kind == program::CopyKind::all_gather ? 1 : copy->near_memory ? 2 : 3;
    return {true, {}, rate * copy->bytes};
  }
  [[nodiscard]] int most_ranks() const override { return 1; }
  int runs = 0;
  program::DeviceId device = 0;  // that computed the last product
};

}  // namespace

TEST_CASE("primepar: redistributions in numbers are those in elements") {
  // Attention with two heads of keys and values among eight, a gated MLP, on 8 devices: 40 pairs drawn for each edge.
  workload::Model model = strategy::gpt(2, 128, 8);
  model.kv_heads = 2;
  model.gated_mlp = true;
  strategy::Workload workload;
  workload.sequence = 64;
  workload.global_batch = 4;
  const Graph graph = make_graph("layer", model, workload);
  const KeyedRandom draws(1, random_stream("pairs"));
  std::uint64_t index = 0;
  Patterns patterns(8);
  for (const Edge& one : graph.edges) {
    const auto drawn = [&](int node) {
      const Operator& op = graph.nodes[static_cast<std::size_t>(node)].op;
      const auto all = all_partitions(op, 3);
      return Slices(op, all[static_cast<std::size_t>(draws.below(index++, all.size()))], 3);
    };
    std::vector<Slices> from, to;
    for (int i = 0; i < 40; ++i) {
      from.push_back(drawn(one.from));
      to.push_back(drawn(one.to));
    }
    std::vector<const Slices*> producers, consumers;
    for (std::size_t i = 0; i < 40; ++i) {
      producers.push_back(&from[i]);
      consumers.push_back(&to[i]);
    }
    Redistributions forth = forward_redistributions(one.shared, producers, consumers, patterns);
    Redistributions back = backward_redistributions(one.shared, producers, consumers, patterns);
    for (std::size_t i = 0; i < 40; ++i) {
      CAPTURE(from[i].op().name, to[i].op().name, to_text(from[i].op(), from[i].partition()),
              to_text(to[i].op(), to[i].partition()));
      Moved forward, backward;
      const auto add = [&](Redistributions& all, Moved& sums) {
        std::uint32_t pattern = 0;
        all.visit_patterns(i,
                           [&](std::size_t needed, std::uint32_t found) { pattern = needed == i ? found : pattern; });
        const std::int64_t unit = all.unit(i, i);
        const bool is_even = patterns.weights(all.pattern(pattern)) == 0;
        all.visit(patterns.senders(all.pattern(pattern)), i, i, [&](int a, int b, std::int64_t n) {
          sums[{a, b}] += n;
          REQUIRE((is_even ? n == unit : n % unit == 0));  // messages are alike where it says so
        });
      };
      add(forth, forward);
      add(back, backward);
      REQUIRE(forward == moved(forward_redistribution(one.shared, from[i], to[i])));
      REQUIRE(backward == moved(backward_redistribution(one.shared, from[i], to[i])));
    }
  }
}

TEST_CASE("primepar: redistributions cost what their messages take, however many edges are alike") {
  // Six heads on four devices: messages of unequal size. Norms and residuals are cut alike.
  strategy::TestJob test(4, strategy::gpt(2, 96, 6), 8);
  test.evaluator = std::make_shared<MadeUpEvaluator>();
  test.machine.device.peak["fp16"] = FlopPerSecond{100'000'000'000'000};
  const program::search::Evaluations evaluations = test.evaluations();
  const strategy::Job job = test.job_with(evaluations);
  const Graph graph = make_graph("layer", *job.model, job.workload);
  std::vector<std::vector<Partition>> choices;
  for (const Node& node : graph.nodes) choices.push_back(all_partitions(node.op, 2));
  machine::LinkLoads loads(job.machine);
  const auto time = [&](const std::vector<Piece>& pieces) {
    for (const auto& [ends, elements] : moved(pieces))
      loads.add(ends.first, ends.second, Bytes{graph.element * elements});
    return loads.take();
  };
  Passes again;
  again.recomputation = true;
  for (const Passes& passes : {Passes{}, again}) {
    const CostTables tables = cost_tables(job, graph, choices, 2, passes);
    for (const CostTables::Edge& table : tables.edges) {
      const auto from = static_cast<std::size_t>(table.from), to = static_cast<std::size_t>(table.to);
      CAPTURE(passes.recomputation, graph.nodes[from].op.name, graph.nodes[to].op.name, table.to_next_layer);
      TimeMatrix expected{choices[from].size(), choices[to].size(), {}};
      for (const Partition& made : choices[from]) {
        const Slices producer(graph.nodes[from].op, made, 2);
        for (const Partition& read : choices[to]) {
          const Slices consumer(graph.nodes[to].op, read, 2);
          Time& sum = expected.times.emplace_back(0);
          for (const Edge& edge : graph.edges) {
            if (edge.from != table.from || edge.to != table.to || edge.to_next_layer != table.to_next_layer) continue;
            sum += (passes.recomputation && !edge.to_next_layer ? 2 : 1) *
                       time(forward_redistribution(edge.shared, producer, consumer)) +
                   time(backward_redistribution(edge.shared, producer, consumer));
          }
        }
      }
      REQUIRE(table.times.times == expected.times);
    }
  }
}

TEST_CASE("primepar: all-reduces cost what the evaluator says of two sizes, in a line, each pattern measured once") {
  strategy::TestJob test(8, strategy::gpt(1, 128, 8), 8);
  const auto own = std::make_shared<MadeUpEvaluator>();
  MadeUpEvaluator& evaluator = *own;
  test.evaluator = own;
  const program::search::Evaluations evaluations = test.evaluations();
  const strategy::Job job = test.job_with(evaluations);
  program::search::GroupCosts costs = all_reduce_costs(job);
  const std::vector<std::vector<int>> pairs{{0, 4}, {1, 5}, {2, 6}, {3, 7}}, quarters{{0, 1, 2, 3}, {4, 5, 6, 7}};
  CHECK(costs.time(pairs, 1'000'000) == 7'000'000 + 2 * 1'000'000);
  CHECK(costs.time(quarters, 1'000'000'000) == 7'000'000 + std::int64_t{4} * 1'000'000'000);
  CHECK(costs.time(pairs, 500) == 7'000'000 + 2 * 500);
  CHECK(costs.time({}, 500) == 0);
  CHECK(evaluator.runs == 4);
}

TEST_CASE("primepar: products at transaction level cost the product and its sum, beside it near memory") {
  strategy::TestJob test(8, strategy::gpt(1, 128, 8), 8);
  test.machine.device.transaction = machine::GpuSpec{};
  test.machine.device.peak["fp16"] = FlopPerSecond{100'000'000'000'000};
  const auto own = std::make_shared<MadeUpEvaluator>();
  MadeUpEvaluator& evaluator = *own;
  test.evaluator = own;
  const program::search::Evaluations evaluations = test.evaluations();
  const strategy::Job job = test.job_with(evaluations);
  const std::vector<std::vector<int>> halves{{0, 1, 2, 3}, {4, 5, 6, 7}};
  const auto product = [](std::int64_t m) { return workload::gemm("product", 1, m, 1000, 64, "fp16"); };
  const auto time = [&](const char* configuration, std::int64_t m) {
    return SublayerCosts(job, program::sublayer::configuration(configuration))
        .time(halves, product(m), program::Activity::forward, 1.0);
  };
  // 1,000 x 1,000 x 2 B are summed: 6 us or near memory 4, and gathered: 2. Their 8 x 4 tiles are two waves on 16 CUs:
  // near memory the sum begins after 4.5 us, and ends before the product does. Of 4,000 rows: 24 or 16 us, and 8; of
  // their 8 waves the first chunk of 4 takes a quarter of 9 us. One of 500 rows is a single wave, behind which nothing
  // is computed.
  test.machine.device.cores = 16;
  CHECK(time("sequential", 1000) == 9'000'000 + 6'000'000 + 2'000'000);
  CHECK(time("t3", 1000) == 9'000'000 + 2'000'000);
  CHECK(time("t3-mca", 4000) == 2'250'000 + 16'000'000 + 8'000'000);
  CHECK(time("t3", 500) == 9'000'000 + 2'000'000 + 1'000'000);
  // A product is measured once, and two sizes of each kernel that copies.
  evaluator.runs = 0;
  *test.memo = {};
  SublayerCosts costs(job, program::sublayer::configuration("t3"));
  for (int i = 0; i < 3; ++i) static_cast<void>(costs.time(halves, product(1000), program::Activity::forward, 1.0));
  CHECK(evaluator.runs == 5);
  // Again on a device that is as slow as the slowest of the group.
  test.machine.speed[2] = 0.5;
  static_cast<void>(costs.time(halves, product(1000), program::Activity::forward, 0.5));
  CHECK(evaluator.runs == 6);
  CHECK(evaluator.device == 2);
}
