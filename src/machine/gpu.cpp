#include "tessera/machine/gpu.hpp"

namespace tessera::machine {

const config::Schema<GpuSpec>& gpu_spec_schema() {
  static const config::Schema<GpuSpec> schema = [] {
    using config::Unit;
    config::Schema<GpuSpec> s("machine.device.transaction",
                              "What a simulation at transaction level needs to know beside the device's cores, clock "
                              "and cache (docs/t3.md).");
    const auto count = [&](const char* key, std::int64_t GpuSpec::*member, const char* help, const char* fallback,
                           const char* least = "1") {
      s.integer(key, member, help).at_least(least).at_most("1000000").otherwise(fallback);
    };
    const auto time = [&](const char* key, Time GpuSpec::*member, const char* help, const char* fallback) {
      s.quantity(key, member, Unit::time, help).at_most("1 s").otherwise(fallback);
    };
    const auto size = [&](const char* key, std::int64_t GpuSpec::*member, const char* help, const char* fallback,
                          const char* least) {
      s.quantity(key, member, Unit::bytes, help).at_least(least).at_most("1 GiB").otherwise(fallback);
    };
    size("granularity", &GpuSpec::granularity, "of a memory transaction, and of a block of the L2", "1 KiB", "64 B");
    count("work_groups_per_cu", &GpuSpec::work_groups_per_cu, "of a GEMM, at a time", "1");
    count("prefetch", &GpuSpec::prefetch, "chunks of k that a work-group loads ahead of the one it computes", "1", "0");
    time("work_group_time", &GpuSpec::work_group_time, "fixed, of each work-group: prologue and epilogue", "0 ns");
    size("outstanding", &GpuSpec::outstanding, "that a CU of a copying kernel may have under way", "4 KiB", "64 B");
    size("copy_block", &GpuSpec::copy_block, "that a copying kernel loads, adds and sends at a time", "2 KiB", "64 B");
    count("l2_ways", &GpuSpec::l2_ways, "of a set of the L2, at most 16", "16");
    count("l2_banks", &GpuSpec::l2_banks, "of the L2, 64 B a clock each", "64");
    time("l2_latency", &GpuSpec::l2_latency, "of a hit", "150 ns");
    count("channels", &GpuSpec::channels, "of the memory", "32");
    s.quantity(
         "memory_clock", &GpuSpec::memory_clock, Unit::frequency,
         "of the memory; when absent, the clock at which the channels together have the device's memory_bandwidth")
        .at_least("1 MHz")
        .at_most("1 THz")
        .optional();
    count("ccdl", &GpuSpec::ccdl, "memory clocks from a burst of 64 B to the next of its channel", "2");
    count("ccdwl", &GpuSpec::ccdwl, "memory clocks from an op-and-store to the next burst in its bank group", "4");
    count("bank_groups", &GpuSpec::bank_groups, "of a channel", "4");
    size("group_run", &GpuSpec::group_run, "of consecutive addresses in one bank group", "256 B", "64 B");
    count("row_time", &GpuSpec::row_time, "memory clocks from the opening of a channel's row to that of the next", "0",
          "0");
    s.number("memory_efficiency", &GpuSpec::memory_efficiency, "share of its clock that the memory keeps up")
        .at_least("0.01")
        .at_most("1")
        .otherwise("1");
    count("turnaround", &GpuSpec::turnaround, "memory clocks between reading and writing", "10", "0");
    time("dram_latency", &GpuSpec::dram_latency, "from the service of a read to its data", "150 ns");
    count("dram_queue", &GpuSpec::dram_queue, "bursts of 64 B that a channel's DRAM queue holds", "64");
    count("max_bypass", &GpuSpec::max_bypass,
          "bursts of the other direction, reads or writes, that may overtake a request in the DRAM queue", "32", "0");
    s.text("arbitration", &GpuSpec::arbitration,
           "which stream fills the DRAM queue, see the list of choices in tessera help")
        .otherwise("round-robin");
    s.quantity("starvation_limit", &GpuSpec::starvation_limit, Unit::time,
               "for each burst, after which mca lets communication go first")
        .at_most("1 ms")
        .otherwise("13.5 ns");
    s.integers("intensity_levels", &GpuSpec::intensity_levels,
               "bursts of mean occupancy of the DRAM queues from which on mca allows communication beside 5, 10 and 30 "
               "bursts; three, descending")
        .otherwise("[32, 16, 8]");
    count("tracker_sets", &GpuSpec::tracker_sets, "of the Tracker, a power of two", "256");
    size("tracker_size", &GpuSpec::tracker_size, "of the Tracker, all entries together", "19 KiB", "1 B");
    return s;
  }();
  return schema;
}

}  // namespace tessera::machine
