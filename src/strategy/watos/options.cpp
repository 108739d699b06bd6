#include "options.hpp"

namespace tessera::strategy::watos {

const char* name_of(Step step) {
  switch (step) {
    case Step::scheduler:
      return "scheduler";
    case Step::recomputation:
      return "recomputation";
    case Step::memory:
      return "memory";
    default:
      return "genetic";
  }
}

const config::Schema<SearchOptions>& search_schema() {
  static const config::Schema<SearchOptions> schema = [] {
    config::Schema<SearchOptions> s("strategy.watos.search", "How far strategy watos searches.");
    s.choice<Step>("step", &SearchOptions::step,
                   {{"scheduler", Step::scheduler},
                    {"recomputation", Step::recomputation},
                    {"memory", Step::memory},
                    {"genetic", Step::genetic}},
                   "the last step: cuts alone; what each stage runs again; where stages stand, and who lends to whom; "
                   "the genetic search over all of it")
        .otherwise("genetic");
    s.choice<Take>(
         "take", &SearchOptions::take,
         {{"fastest", Take::fastest}, {"megatron-rule", Take::megatron_rule}, {"megatron-best", Take::megatron_best}},
         "the fastest plan of all; or, to look at what is compared with, the fastest by Megatron's rule "
         "(MG-wafer (a)) or with Megatron's best cut (MG-wafer (b)), and no others are looked at")
        .otherwise("fastest");
    s.integer("candidates", &SearchOptions::candidates,
              "cuts on which the last step runs, those that are predicted to be the fastest")
        .at_least("1")
        .at_most("1000")
        .otherwise("10");
    s.integer("simulated", &SearchOptions::simulated,
              "plans of the last step that are simulated at least, those that are predicted to be the fastest")
        .at_least("1")
        .at_most("1000")
        .otherwise("10");
    s.integer("population", &SearchOptions::population, "individuals of the genetic search")
        .at_least("2")
        .at_most("100000")
        .otherwise("100");
    s.integer("generations", &SearchOptions::generations, "of the genetic search, as many children each as individuals")
        .at_least("0")
        .at_most("1000000")
        .otherwise("100");
    s.number("elitism", &SearchOptions::elitism,
             "omega: share of a generation that is taken by rank; the rest wins tournaments of two")
        .at_least("0")
        .at_most("1")
        .otherwise("0.5");
    s.choice<Fitness>("fitness", &SearchOptions::fitness, {{"product", Fitness::product}, {"time", Fitness::time}},
                      "of the genetic search: time of the slowest stage x communication over distances, or the "
                      "predicted time of an iteration")
        .otherwise("product");
    s.boolean("rivals", &SearchOptions::rivals,
              "plans by Megatron's rules are simulated beside those of the search, and taken where they are faster")
        .otherwise("true");
    s.integer("random_plans", &SearchOptions::random_plans,
              "plans that are drawn at random and simulated as well, to see what predictions are worth")
        .at_least("0")
        .at_most("100000")
        .otherwise("0");
    return s;
  }();
  return schema;
}

config::Schema<Options> options_schema(const StrategyKind& cut) {
  config::Schema<Options> s("strategy.watos",
                            "Cuts, recomputation, places on a wafer and lent memory, searched together (WATOS). All "
                            "other keys are those of strategy " +
                                cut.name + ".");
  s.also_accept("name", "\"watos\"");
  const auto open = [&](const char* key, std::int64_t Options::*member, const char* help) {
    s.integer(key, member, help).at_least("1").at_most("1000000").optional().may_be_open();
  };
  open("tensor", &Options::tensor, "tensor-parallel ranks of each stage; any when absent");
  open("pipeline", &Options::pipeline, "pipeline stages; any when absent");
  open("data", &Options::data, "data-parallel replicas; as many as there is room for when absent");
  s.text("healthy_plan", &Options::healthy_plan,
         "plan file of this strategy for the same wafer without faults: its groups, layers and sets are laid along a "
         "serpentine over the dies that live, as if all of them were sound, and nothing is searched")
      .optional()
      .names_file();
  s.table("search", &Options::search, search_schema(), "how far the search goes").optional();
  for (const config::ParameterHelp& key : cut.schema().parameters()) {
    if (key.name != "tensor" && key.name != "pipeline" && key.name != "data" && key.name != "name")
      s.also_accept(key.name, key.help);
  }
  return s;
}

}  // namespace tessera::strategy::watos
