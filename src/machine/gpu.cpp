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
    size("granularity", &GpuSpec::granularity, "of a memory transaction, and of a block of the L2", "256 B", "32 B");
    count("work_groups_per_cu", &GpuSpec::work_groups_per_cu, "of a GEMM, at a time", "1");
    count("prefetch", &GpuSpec::prefetch, "chunks of k that a work-group loads ahead of the one it computes", "1", "0");
    time("work_group_time", &GpuSpec::work_group_time, "fixed, of each work-group: prologue and epilogue", "0 ns");
    size("outstanding", &GpuSpec::outstanding, "that a CU of a copying kernel may have under way", "4 KiB", "64 B");
    size("copy_block", &GpuSpec::copy_block, "that a copying kernel loads, adds and sends at a time", "2 KiB", "64 B");
    count("l2_ways", &GpuSpec::l2_ways, "of a set of the L2, at most 16", "16");
    count("l2_banks", &GpuSpec::l2_banks, "of the L2, 64 B a clock each", "64");
    time("l2_latency", &GpuSpec::l2_latency, "of a hit", "150 ns");
    count("l2_queue", &GpuSpec::l2_queue,
          "bursts of 32 B that a channel's banks of the L2 may have waiting for its DRAM queue, before they stall",
          "128");
    size("l2_line", &GpuSpec::l2_line, "of consecutive addresses that a fetch of an operand takes at least", "128 B",
         "32 B");
    count("l2_misses", &GpuSpec::l2_misses, "bursts of 32 B that a bank of the L2 may be fetching, before it stalls",
          "192");
    count("channels", &GpuSpec::channels, "of the memory", "32");
    s.quantity(
         "memory_clock", &GpuSpec::memory_clock, Unit::frequency,
         "of the memory; when absent, the clock at which the channels together have the device's memory_bandwidth")
        .at_least("1 MHz")
        .at_most("1 THz")
        .optional();
    s.integer("banks", &GpuSpec::banks, "of a channel").at_least("1").at_most("64").otherwise("16");
    count("bank_groups", &GpuSpec::bank_groups, "of a channel", "4");
    size("dram_row", &GpuSpec::dram_row, "of a bank; it holds whole transactions", "2 KiB", "32 B");
    const auto clocks = [&](const char* key, std::int64_t GpuSpec::*member, const char* help, const char* fallback,
                            const char* least = "0") {
      s.integer(key, member, std::string("memory clocks from ") + help)
          .at_least(least)
          .at_most("1000000")
          .otherwise(fallback);
    };
    clocks("ccds", &GpuSpec::ccds, "a burst of 32 B to the next, of another bank group", "1", "1");
    clocks("ccdl", &GpuSpec::ccdl, "a burst to the next one of its bank group", "2");
    clocks("ccdwl", &GpuSpec::ccdwl, "an op-and-store's burst to the next one of its bank group", "4");
    clocks("rcd", &GpuSpec::rcd, "opening a row to its first burst", "14");
    clocks("rcdwr", &GpuSpec::rcdwr, "the same, to a burst that only writes", "11");
    clocks("rp", &GpuSpec::rp, "closing a row to opening the next", "14");
    clocks("ras", &GpuSpec::ras, "opening a row to closing it", "33");
    clocks("rc", &GpuSpec::rc, "opening a row to opening the next of its bank", "47");
    clocks("rrd", &GpuSpec::rrd, "opening a row to opening one of another bank", "4");
    clocks("rtp", &GpuSpec::rtp, "reading to closing the row", "4");
    clocks("wr", &GpuSpec::wr, "the end of written data to closing the row", "12");
    clocks("wtr", &GpuSpec::wtr, "the end of written data to reading", "3");
    clocks("rtw", &GpuSpec::rtw, "reading to writing", "15");
    clocks("cl", &GpuSpec::cl, "reading to its data", "14");
    clocks("cwl", &GpuSpec::cwl, "writing to its data", "2");
    time("dram_latency", &GpuSpec::dram_latency, "from a read's data to the L2", "100 ns");
    count("dram_queue", &GpuSpec::dram_queue, "bursts of 32 B that a channel's DRAM queue holds", "64");
    count("max_bypass", &GpuSpec::max_bypass, "bursts of younger requests that may overtake one in the DRAM queue",
          "32", "0");
    s.text("arbitration", &GpuSpec::arbitration,
           "which stream fills the DRAM queue, see the list of choices in tessera help")
        .otherwise("round-robin");
    s.quantity("starvation_limit", &GpuSpec::starvation_limit, Unit::time,
               "for each burst, after which mca lets communication go first")
        .at_most("1 ms")
        .otherwise("6.75 ns");
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
