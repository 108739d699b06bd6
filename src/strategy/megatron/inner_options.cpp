#include "inner_options.hpp"

namespace tessera::strategy::megatron {

const config::Schema<Placement>& placement_schema() {
  static const config::Schema<Placement> schema = [] {
    using machine::TileOrder, machine::TilePath;
    config::Schema<Placement> s("strategy.megatron.placement",
                                "Tensor-parallel groups as rectangles of a mesh, one after another along a path.");
    s.texts(
        "tiles", &Placement::tiles,
        "columns x rows of each group, such as \"2x2\", or \"2x2 * 12\" for twelve of them; the last one stands for "
        "all that follow");
    s.choice<TileOrder>("order", &Placement::order, {{"rows", TileOrder::rows}, {"cycle", TileOrder::cycle}},
                        "of the devices in a group: row by row, or each beside the next one and the last beside the "
                        "first; a tile that has no such cycle (two odd sides, a line) is a snake, along its rows there "
                        "and back")
        .otherwise("cycle");
    s.choice<TilePath>(
         "path", &Placement::path,
         {{"serpentine-rows", TilePath::serpentine_rows}, {"serpentine-columns", TilePath::serpentine_columns}},
         "from group to group: along a row of them and back along the next one, or down a column and up "
         "the next one")
        .otherwise("serpentine-rows");
    return s;
  }();
  return schema;
}

const config::Schema<StageOptions>& stage_schema() {
  static const config::Schema<StageOptions> schema = [] {
    config::Schema<StageOptions> s("strategy.megatron.stages", "One stage of the pipeline.");
    s.integers("devices", &StageOptions::devices,
               "of the stage, by number: tensor ranks in order, of the first replica, then of the next one")
        .at_least("0")
        .optional();
    s.texts("recomputation", &StageOptions::recomputation, "as recomputed_sections, of this stage").optional();
    s.integer("recomputed_layers", &StageOptions::recomputed_layers, "as the key of that name, of this stage")
        .at_least("0")
        .at_most("1000000")
        .optional();
    return s;
  }();
  return schema;
}

const config::Schema<LoanOptions>& loan_schema() {
  static const config::Schema<LoanOptions> schema = [] {
    config::Schema<LoanOptions> s("strategy.megatron.loans",
                                  "A stage sends activations that it keeps to another one, or to hosts, until it "
                                  "needs them.");
    s.integer("from", &LoanOptions::from, "the stage that sends them").at_least("0");
    s.integer("to", &LoanOptions::to, "the stage that holds them; when absent, the host nearest to each device")
        .at_least("0")
        .optional();
    s.texts("tensors", &LoanOptions::tensors,
            "sections of a layer whose kept activations are lent, as in recomputed_sections; all when absent")
        .optional();
    s.quantity("bytes", &LoanOptions::bytes, "that each device lends of a micro-batch; 0: all of those tensors")
        .otherwise("0 B");
    s.integers("lenders", &LoanOptions::lenders,
               "devices of from that lend; when absent, all of them, each to the nearest device of to that is left")
        .optional();
    s.integers("helpers", &LoanOptions::helpers, "for each of the lenders, the device of to that holds what it lends")
        .optional();
    s.integer(
         "buffers", &LoanOptions::buffers,
         "micro-batches of it that a device has room for: one that is made, the others on their way out, for which "
         "it waits; when absent, 2 to a host and any number to a stage")
        .at_least("2")
        .at_most("1000000")
        .optional();
    s.integer("lead", &LoanOptions::lead, "passes ahead of the backward pass, when they are asked for")
        .at_least("1")
        .at_most("1000000")
        .otherwise("1");
    return s;
  }();
  return schema;
}

const config::Schema<WayOptions>& way_schema() {
  static const config::Schema<WayOptions> schema = [] {
    config::Schema<WayOptions> s("strategy.megatron.ways", "The way of what one stage sends to another one.");
    s.integer("from", &WayOptions::from, "the device that sends").at_least("0");
    s.integer("to", &WayOptions::to, "the device that receives").at_least("0");
    s.choice("what", &WayOptions::what, {"activations", "gradients", "loans", "returns"},
             "to the next stage, to the one before, to a helper and back from it");
    s.integers("through", &WayOptions::through, "devices that it passes, in order, each with a link to the next one")
        .at_least("0");
    return s;
  }();
  return schema;
}

std::vector<const config::SchemaBase*> options_inner_schemas() {
  return {&placement_schema(), &stage_schema(), &loan_schema(), &way_schema()};
}

}  // namespace tessera::strategy::megatron
