#include "sublayers.hpp"
#include "tessera/program/sublayer.hpp"
#include "tessera/strategy/t3/t3.hpp"

namespace tessera::strategy::t3 {
namespace {

using program::sublayer::Following;

void add_map_keys(config::Schema<MapTable>& s) {
  s.integer("chunk", &MapTable::chunk, "of the output, cut into as many as there are devices, counted from the rank")
      .at_least("0");
  s.integer("shift", &MapTable::shift, "to the device of rank + shift")
      .at_least("-1000000")
      .at_most("1000000")
      .otherwise("-1");
  s.choice("operation", &MapTable::operation, {"update", "store"}, "added to what is there, or written over it")
      .otherwise("update");
}

void add_gemm(config::Schema<Options>& s) {
  s.integer("m", &Options::m, "rows of the result of sub-layer \"gemm\"")
      .at_least("0")
      .at_most("1000000")
      .otherwise("0");
  s.integer("n", &Options::n, "columns of it").at_least("0").at_most("1000000").otherwise("0");
  s.integer("k", &Options::k, "its depth on one device").at_least("0").at_most("1000000").otherwise("0");
  s.integer("tile_m", &Options::tile_m, "rows of a work-group's tile").at_least("1").at_most("65536").otherwise("128");
  s.integer("tile_n", &Options::tile_n, "columns of a work-group's tile")
      .at_least("1")
      .at_most("65536")
      .otherwise("256");
  s.integer("tile_k", &Options::tile_k, "depth of what it loads at a time")
      .at_least("1")
      .at_most("65536")
      .otherwise("32");
  s.integer("wavefronts", &Options::wavefronts, "of a work-group; each writes an equal share of its rows")
      .at_least("1")
      .at_most("8")
      .otherwise("8");
  s.integer("split_k", &Options::split_k, "work-groups that share a tile, each with a part of k")
      .at_least("1")
      .at_most("1000000")
      .otherwise("1");
  s.choice<program::TileOrder>(
       "tile_order", &Options::tile_order,
       {{"column-major", program::TileOrder::column_major}, {"row-major", program::TileOrder::row_major}},
       "order in which tiles are dispatched: rows (tokens) of a column first, or columns of a row")
      .otherwise("column-major");
}

}  // namespace

const config::Schema<MapTable>& remote_map_schema() {
  static const config::Schema<MapTable> schema = [] {
    config::Schema<MapTable> s("strategy.t3.remote_map",
                               "A chunk that the producer stores to another device (T3, figure 12).");
    add_map_keys(s);
    return s;
  }();
  return schema;
}

const config::Schema<MapTable>& dma_map_schema() {
  static const config::Schema<MapTable> schema = [] {
    config::Schema<MapTable> s("strategy.t3.dma_map",
                               "A chunk that is written here, and sent when it is complete (T3, figure 12).");
    add_map_keys(s);
    s.integer("updates", &MapTable::updates, "of each element, after which it is sent")
        .at_least("1")
        .at_most("1000000")
        .otherwise("2");
    return s;
  }();
  return schema;
}

const config::Schema<Options>& options_schema() {
  static const config::Schema<Options> schema = [] {
    config::Schema<Options> s("strategy.t3",
                              "Tensor-parallel sub-layers with their collective fused into the GEMM (T3).");
    s.also_accept("name", "\"t3\"");
    s.choice("fidelity", &Options::fidelity, {"transaction", "operator"},
             "by work-groups and memory transactions, or by operators and collectives (configuration sequential alone)")
        .otherwise("transaction");
    s.choice("configuration", &Options::configuration, program::sublayer::configuration_names(),
             program::sublayer::configuration_help())
        .otherwise("t3-mca");
    s.choice("sublayer", &Options::sublayer, sublayer_names(), sublayer_help()).otherwise("fc2");
    std::vector<std::string> maps;
    std::vector<std::string> inputs{"local"};
    for (const auto& kind : program::address_map_kinds()) {
      maps.push_back(kind.name);
      if (kind.gathers) inputs.push_back(kind.name);
    }
    s.choice("collective", &Options::collective, maps, "where a fused GEMM's stores go: its address map")
        .otherwise("ring-reduce-scatter");
    s.choice("input", &Options::input, inputs,
             "how operand A of sub-layer \"gemm\" comes: its rows are here, or gathered from all devices; a fused GEMM "
             "computes those that have come")
        .otherwise("local");
    s.choice<program::Reduction>(
         "reduction", &Options::reduction,
         {{"near-memory", program::Reduction::near_memory},
          {"atomics", program::Reduction::atomics},
          {"switch", program::Reduction::in_switch}},
         "what adds a fused GEMM's updates: the memory itself; system-wide atomics that read and write it; or, for "
         "direct-reduce-scatter, the switch in front of where they go, and the memory what is here")
        .otherwise("near-memory");
    s.choice<Following>(
         "following", &Options::following,
         {{"none", Following::nothing}, {"cus", Following::by_cus}, {"near-memory", Following::near_memory}},
         "an addition to the sum (a residual): by CUs, to all of it on each device; or near the memory, "
         "to each device's part, before they are gathered")
        .otherwise("none");
    add_gemm(s);
    s.integer("dma_tiles", &Options::dma_tiles, "wavefronts' tiles of a DMA command")
        .at_least("1")
        .at_most("1000000")
        .otherwise("1");
    s.integer("gemm_cus", &Options::gemm_cus, "CUs of the GEMM in cu-split; 0: all").at_least("0").otherwise("0");
    s.integer("collective_cus", &Options::collective_cus, "CUs of the collective in cu-split; 0: all")
        .at_least("0")
        .otherwise("0");
    s.tables("remote_map", &Options::remote_maps, remote_map_schema(),
             "a map of your own instead of `collective`, see strategy.t3.remote_map")
        .optional();
    s.tables("dma_map", &Options::dma_maps, dma_map_schema(),
             "a map of your own instead of `collective`, see strategy.t3.dma_map")
        .optional();
    return s;
  }();
  return schema;
}

}  // namespace tessera::strategy::t3
