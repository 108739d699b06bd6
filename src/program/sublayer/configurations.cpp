#include "tessera/base/error.hpp"
#include "tessera/program/sublayer.hpp"

namespace tessera::program::sublayer {
namespace {

constexpr std::uint32_t side_memory = 1;

void add_gemm(const Work& work, BlockBuilder& builder, std::int64_t cus = 0) {
  GemmKernel gemm = work.gemm;
  gemm.map = gemm.input_map = 0;  // "local"
  gemm.calls.clear();
  gemm.dma_tiles = 1;
  gemm.reduction = Reduction::near_memory;
  builder.activity(work.activity).label(work.label + " gemm").kernel({gemm, work.group_slot, cus, 0});
}

std::string copy_label(const Work& work, const CopyKernel& copy) {
  return work.label + " " + std::string(name_of(copy.kind));
}
std::string input_label(const Work& work) { return work.label + " input all-gather"; }

void add_labelled(const std::string& label, const Work& work, BlockBuilder& builder, const CopyKernel& copy,
                  std::int64_t cus, std::uint32_t memory) {
  const Activity activity = copy.kind == CopyKind::add ? work.activity : Activity::tensor_communication;
  builder.activity(activity).label(label).kernel({copy, work.group_slot, cus, memory});
}

void add_copy(const Work& work, BlockBuilder& builder, const CopyKernel& copy, std::int64_t cus = 0,
              std::uint32_t memory = 0) {
  add_labelled(copy_label(work, copy), work, builder, copy, cus, memory);
}

CopyKernel reduce_scatter(const Work& work) { return {work.result_bytes(), CopyKind::reduce_scatter}; }
CopyKernel near_memory_reduce_scatter(const Work& work) {
  return {work.result_bytes(), CopyKind::reduce_scatter, true};
}
CopyKernel all_gather(const Work& work) { return {work.result_bytes(), CopyKind::all_gather}; }

/// What a fused GEMM communicates by itself, as a kernel of its own.
CopyKernel unfused(const Work& work) {
  if (work.gathers_shards()) return all_gather(work);
  if (work.sums()) return reduce_scatter(work);
  const bool sends = address_map_kinds()[work.gemm.map].sends;
  return {work.result_bytes(), sends ? CopyKind::send : CopyKind::all_to_all};
}

/// What a fused GEMM's input comes by.
void add_input_gather(const Work& work, BlockBuilder& builder, std::int64_t cus = 0, std::uint32_t memory = 0) {
  if (work.gathers_input())
    add_labelled(input_label(work), work, builder, {work.input_bytes(), CopyKind::all_gather}, cus, memory);
}

void add_unfused(const Work& work, BlockBuilder& builder, std::int64_t cus = 0, std::uint32_t memory = 0) {
  if (work.communicates()) add_copy(work, builder, unfused(work), cus, memory);
}

/// A sum that is scattered is gathered then, however it came about, and what is added to it is so before or behind.
void add_what_follows(const Work& work, BlockBuilder& builder, std::int64_t cus = 0, std::uint32_t memory = 0) {
  if (work.following == Following::near_memory)
    add_copy(work, builder, {work.result_bytes(), CopyKind::add, true}, cus, memory);
  if (work.sums() && work.gathers) add_copy(work, builder, all_gather(work), cus, memory);
  if (work.following == Following::by_cus) add_copy(work, builder, {work.result_bytes(), CopyKind::add}, cus, memory);
}

void sequential(const Work& work, Streams& streams) {
  add_input_gather(work, streams.main);
  add_gemm(work, streams.main);
  add_unfused(work, streams.main);
  add_what_follows(work, streams.main);
}

void fused(const Work& work, Streams& streams, const std::string& arbitration) {
  GemmKernel gemm = work.gemm;
  gemm.arbitration = arbitration;
  streams.main.activity(work.activity).label(work.label + " fused gemm").kernel({gemm, work.group_slot, 0, 0});
  add_what_follows(work, streams.main);
}

/// The GEMM, and beside it, undisturbed, what `side` adds; the longer of the two counts.
template <class Side>
void overlapped(const Work& work, Streams& streams, std::int64_t gemm_cus, const Side& side) {
  streams.main.signal(side_go);
  streams.side.activity(Activity::tensor_communication).label(work.label + " go").wait(side_go);
  side(streams.side);
  streams.side.signal(side_done);
  add_gemm(work, streams.main, gemm_cus);
  streams.main.activity(Activity::tensor_communication)
      .label(work.communicates() ? copy_label(work, unfused(work)) : input_label(work))
      .wait(side_done);
}

void ideal_overlap(const Work& work, Streams& streams) {
  overlapped(work, streams, 0, [&](BlockBuilder& side) {
    add_input_gather(work, side, 0, side_memory);
    add_unfused(work, side, 0, side_memory);
  });
  add_what_follows(work, streams.main);
}

void ideal_near_memory(const Work& work, Streams& streams) {
  overlapped(work, streams, 0, [&](BlockBuilder& side) {
    add_input_gather(work, side, 0, side_memory);
    add_copy(work, side, near_memory_reduce_scatter(work), 0, side_memory);
  });
  add_what_follows(work, streams.main);
}

void cu_split(const Work& work, Streams& streams) {
  overlapped(work, streams, work.gemm_cus, [&](BlockBuilder& side) {
    add_input_gather(work, side, work.collective_cus, side_memory);
    add_unfused(work, side, work.collective_cus, side_memory);
    add_what_follows(work, side, work.collective_cus, side_memory);
  });
}

}  // namespace

const std::vector<Configuration>& configurations() {
  static const std::vector<Configuration> all{
      {.name = "sequential", .help = "GEMM, then reduce-scatter, then all-gather", .add = sequential},
      {.name = "t3",
       .help = "GEMM fused with the reduce-scatter, with the memory's own arbitration; then all-gather",
       .fused = true,
       .near_memory = true,
       .add = [](const Work& work, Streams& streams) { fused(work, streams, ""); }},
      {.name = "t3-mca",
       .help = "the same with communication-aware arbitration",
       .fused = true,
       .near_memory = true,
       .add = [](const Work& work, Streams& streams) { fused(work, streams, "mca"); }},
      {.name = "ideal-gemm-rs-overlap",
       .help = "the longer of GEMM and reduce-scatter, each undisturbed; then all-gather",
       .uses_side = true,
       .add = ideal_overlap},
      {.name = "ideal-rs-nmc",
       .help = "the same, the reduce-scatter with near-memory additions",
       .uses_side = true,
       .near_memory = true,
       .sums = true,
       .add = ideal_near_memory},
      {.name = "cu-split",
       .help = "the longer of a GEMM on gemm_cus and an all-reduce on collective_cus, each undisturbed",
       .uses_side = true,
       .add = cu_split},
      {.name = "gemm",
       .help = "the GEMM alone",
       .whole = false,
       .add = [](const Work& work, Streams& streams) { add_gemm(work, streams.main); }},
      {.name = "reduce-scatter",
       .help = "the reduce-scatter alone",
       .whole = false,
       .sums = true,
       .add = [](const Work& work, Streams& streams) { add_copy(work, streams.main, reduce_scatter(work)); }},
      {.name = "all-gather",
       .help = "the all-gather alone",
       .whole = false,
       .add =
           [](const Work& work, Streams& streams) {
             add_input_gather(work, streams.main);
             if (work.sums() || work.gathers_shards()) add_copy(work, streams.main, all_gather(work));
           }},
  };
  return all;
}

const Configuration& configuration(const std::string& name) {
  for (const Configuration& one : configurations()) {
    if (one.name == name) return one;
  }
  throw InternalError("no configuration \"" + name + "\"");
}

std::vector<std::string> configuration_names() {
  std::vector<std::string> names;
  for (const Configuration& one : configurations()) names.push_back(one.name);
  return names;
}

std::string configuration_help() {
  std::string text = "how it is run:";
  for (const Configuration& one : configurations()) text += " " + one.name + ": " + one.help + ";";
  text.pop_back();
  return text;
}

}  // namespace tessera::program::sublayer
