#include "options.hpp"

#include "searches/searches.hpp"
#include "solver.hpp"

namespace tessera::strategy::mcm {
namespace {

/// "a: what a is; b: what b is", and their names.
template <class Kinds>
std::string help_of_kinds(const Kinds& kinds) {
  std::string text;
  for (const auto& kind : kinds) text += (text.empty() ? "" : "; ") + kind.name + ": " + kind.help;
  return text;
}

template <class Kinds>
std::vector<std::string> names_of_kinds(const Kinds& kinds) {
  std::vector<std::string> names;
  for (const auto& kind : kinds) names.push_back(kind.name);
  return names;
}

void add_search_keys(config::Schema<Options>& s) {
  s.choice("search", &Options::search, names_of_kinds(search_kinds()), help_of_kinds(search_kinds()))
      .otherwise("contiguous");
  s.integer("samples", &Options::samples, "partitions that random and annealing evaluate")
      .at_least("1")
      .at_most("10000000")
      .otherwise("1000");
  s.choice("template", &Options::chip_graph, names_of_kinds(template_kinds()),
           "which chips may feed which. " + help_of_kinds(template_kinds()))
      .otherwise("chain");
  s.choice<NodeOrder>("order", &Options::order,
                      {{"random", NodeOrder::random}, {"topological", NodeOrder::topological}},
                      "in which order random and annealing decide nodes")
      .otherwise("random");
  s.number("sigma", &Options::sigma,
           "chips: searches that draw start from a normal distribution of this width round each node's share of the "
           "time; 0: from a uniform one")
      .at_least("0")
      .otherwise("0");
  s.boolean("refine", &Options::refine, "then nodes are moved between chips as long as that is faster")
      .otherwise("false");
  s.choice<EvaluatorKind>("evaluator", &Options::evaluator,
                          {{"package", EvaluatorKind::package}, {"analytic", EvaluatorKind::analytic}},
                          "the search asks the simulated package; or takes the most loaded chip's time, without "
                          "transfers and memory")
      .otherwise("package");
  s.choice<Objective>("objective", &Options::objective,
                      {{"throughput", Objective::throughput}, {"latency", Objective::latency}},
                      "of the search: inputs a second in steady state, or the time of one input")
      .otherwise("throughput");
}

void add_annealing_keys(config::Schema<Options>& s) {
  s.integer("annealing_chains", &Options::annealing_chains, "that go on side by side, a partition each in a step")
      .at_least("1")
      .at_most("10000")
      .otherwise("2");
  s.number("annealing_nodes", &Options::annealing_nodes,
           "part of the nodes whose distributions a step draws anew; one at least")
      .at_least("0")
      .at_most("1")
      .otherwise("0.1");
  s.number("annealing_sharpness", &Options::annealing_sharpness,
           "of a new distribution: 1 makes all distributions as likely, above 1 they have fewer likely chips")
      .at_least("0")
      .at_most("16")
      .otherwise("2");
  s.number("annealing_first", &Options::annealing_first,
           "how much slower, as a part of the time, a step is that is taken with probability 1/e at the beginning")
      .at_least("0.000001")
      .at_most("1000")
      .otherwise("0.1");
  s.number("annealing_last", &Options::annealing_last, "the same at the end")
      .at_least("0.000001")
      .at_most("1000")
      .otherwise("0.001");
}

}  // namespace

const config::Schema<Options>& options_schema() {
  static const config::Schema<Options> schema = [] {
    config::Schema<Options> s("strategy.mcm", "A computation graph cut over the chips of a package, for inference.");
    s.also_accept("name", "\"mcm\"");
    s.texts("partition", &Options::partition,
            "by chip the nodes on it: \"first..last, one\", runs in the graph's order by name; searched unless given")
        .optional();
    add_search_keys(s);
    add_annealing_keys(s);
    s.text("policy", &Options::policy, "what `tessera train` has learnt: ppo goes on from it, zero-shot draws from it")
        .names_file()
        .optional();
    s.boolean("stretch_policy", &Options::stretch_policy, "use a policy of a package with another number of chips")
        .otherwise("false");
    s.table("learning", &Options::learning, learning_schema(), "of search ppo, see strategy.mcm.learning").optional();
    s.choice<NodeSchedule>("schedule", &Options::schedule,
                           {{"least-memory", NodeSchedule::least_memory}, {"graph", NodeSchedule::graph}},
                           "in which order a chip runs its nodes: always the one after which least is held; or the "
                           "graph's order")
        .otherwise("least-memory");
    s.integer("inputs", &Options::inputs, "that pass through, global_batch sequences each where the model has them")
        .at_least("1")
        .at_most("1000000")
        .otherwise("32");
    s.integer("depth", &Options::depth, "inputs that a chip runs ahead of the next one at most")
        .at_least("1")
        .at_most("1024")
        .otherwise("2");
    s.integer("send_buffers", &Options::send_buffers,
              "inputs whose results a chip has room for until they have left; with 1 it computes or sends")
        .at_least("1")
        .at_most("1024")
        .otherwise("2");
    s.integer("chips", &Options::chips, "of the package that are used at most; 0: all that work")
        .at_least("0")
        .otherwise("0");
    return s;
  }();
  return schema;
}

}  // namespace tessera::strategy::mcm
