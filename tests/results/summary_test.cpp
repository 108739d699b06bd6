// The summary table, letter by letter, and the numbers in it.
#include <catch2/catch.hpp>

#include "../../src/results/human.hpp"
#include "folder.hpp"
#include "sample.hpp"

using namespace tessera;
using namespace tessera::results;

namespace {

std::string summary_of(const RunResults& results) {
  const sample::Folder folder;
  const auto comm = make_serial_communicator();
  write(folder / "out.h5", results, sample::provenance(), *comm);
  return summary(folder / "out.h5");
}

}  // namespace

TEST_CASE("the summary of the made-up run") {
  // By hand, for devices d = 0..7 in an iteration of 2 s:
  //  tokens per second: 65,536 / 2; model FLOPs: 4e15 / (2 s x 8 x 312e12) = 80.1 %
  //  forward: 1 s + d x 10 ms, so 1.035 s on average and 1.07 s at most; backward: 1.7 s - forward
  //  memory: 40 GB + (d mod 5) GB, so device 4 is the first with 44 GB; a quarter of it is weights
  //  links l = 0..19, odd ones NICs: 1 + 3 + ... + 19 = 100 GB; busy l x 100 ms of 2 s: 50 % on average, 95 % at most
  //  all-reduce: 10 calls on each of 8 devices in groups of 4 are 20 operations; of 10 us they wait 4 us
  CHECK(summary_of(sample::make()) ==
        R"(A made-up run
model none, machine eight-devices (uncalibrated: peak rates), strategy by-hand, tensor parallel 4,
  pipeline parallel 2

  iteration time             2.000 s    devices                            8
  tokens per second           32,768    tokens per iteration          65,536
  model FLOPs         80.1 % of peak    hardware FLOPs        100.2 % of peak

time of a device                          mean       share  worst device
  forward                               1.03 s      51.8 %        1.07 s
  backward                              665 ms      33.2 %        700 ms
  tensor communication                  250 ms      12.5 %        250 ms
  bubble                               50.0 ms       2.5 %       50.0 ms

peak memory of gpu 4                   44.0 GB      55.0 %    of 80.0 GB
  weights                              11.0 GB      13.8 %
  activations                          33.0 GB      41.2 %
  (to spare)                           36.0 GB      45.0 %

traffic                      links     carried   use, mean       busiest    peak queue
  nic                           10      100 GB      50.0 %        95.0 %       77.8 kB
  nvlink                        10     90.0 GB      45.0 %        90.0 %       73.7 kB

collectives                                    group  operations     size     mean  longest  waiting
  tensor: all reduce, ring                         4          20  1.00 kB   600 ns   700 ns   400 ns
  layer forward: reduce scatter, direct            2           2    500 B  1.00 ns  1.00 ns     0 ps

simulated on 2 ranks (window) in 4.25 s: 12.3 M events, 2.90 M/s, 20.0 % waiting for other ranks
)");
}

TEST_CASE("activities of a strategy stand beside what they are of, communication with communication") {
  // The made-up run has 250 ms of tensor communication, 50 ms of bubble and no idle time.
  RunResults r = sample::make();
  const std::vector<std::string> own{"context_communication", "backward_beside_forward", "offload"};
  r.activities.push_back("idle");
  for (DeviceRow& d : r.device_rows) d.activity.push_back(0);
  r.activities.insert(r.activities.end(), own.begin(), own.end());
  for (DeviceRow& d : r.device_rows) d.activity.insert(d.activity.end(), {0, 0, 0});
  CHECK(summary_of(r).find(R"(
  forward                               1.03 s      51.8 %        1.07 s
  backward                              665 ms      33.2 %        700 ms
  backward beside forward                 0 ps       0.0 %          0 ps
  tensor communication                  250 ms      12.5 %        250 ms
  context communication                   0 ps       0.0 %          0 ps
  bubble                               50.0 ms       2.5 %       50.0 ms
  offload                                 0 ps       0.0 %          0 ps
)") != std::string::npos);
}

TEST_CASE("a summary says when users get their first token, and how far apart the others are") {
  // 128 tokens of each of 32 sequences in 2 s: the first after 0.73 s, 127 others 10 ms apart.
  RunResults r = sample::make();
  r.tokens = 32 * 128;
  r.served = {"prompt-and-generation", 32, 512, 128, 730 * millisecond, 10 * millisecond, 1400};
  r.phases = {{"prompt", 730 * millisecond}, {"generation", 2 * second}};
  CHECK(summary_of(r).find(R"(
  iteration time             2.000 s    devices                            8
  tokens per second            2,048    tokens per iteration           4,096
  time to first token       730.0 ms    time per token              10.00 ms
  tokens/s of a user           100.0    largest batch                  1,400
)") != std::string::npos);
  r.served = {"prompt", 32, 512, 0, 2 * second, 0, 1};
  CHECK(summary_of(r).find("  time to first token        2.000 s    largest batch                      1\n") !=
        std::string::npos);
  r.served = {"generation", 32, 512, 200, 0, 10 * millisecond, 0};
  CHECK(summary_of(r).find("  time per token            10.00 ms    tokens/s of a user             100.0\n"
                           "  largest batch            none fits\n") != std::string::npos);
}

TEST_CASE("a summary says what is reserved of a device's memory, and what is to spare or too much") {
  // 80 GB, of which 2 are reserved: 44 of 78 leave 34; 44 of 40 are 4 too much.
  RunResults r = sample::make();
  r.memory_reserve = 2'000'000'000;
  CHECK(summary_of(r).find("  activations                          33.0 GB      41.2 %\n"
                           "  (reserved by the machine)            2.00 GB       2.5 %\n"
                           "  (to spare)                           34.0 GB      42.5 %\n") != std::string::npos);
  r.memory_capacity = 42'000'000'000;
  CHECK(summary_of(r).find("  (too much)                           4.00 GB       9.5 %\n") != std::string::npos);
}

TEST_CASE("sections without content are left out") {
  RunResults r = sample::make();
  r.tokens = 0;
  r.model_flops = 0;
  r.collective_rows.clear();
  r.link_rows.clear();
  for (DeviceRow& d : r.device_rows) d.peak_memory = 0;
  const std::string text = summary_of(r);
  for (const char* absent : {"tokens", "FLOPs", "collectives", "traffic", "memory"}) {
    INFO(absent);
    CHECK(text.find(absent) == std::string::npos);
  }
}

TEST_CASE("model FLOPs above hardware FLOPs are explained, others are not") {
  // 6e15 of the model, of which 5e15 were executed: 6e15 / (2 s x 8 x 312e12) = 120.2 %.
  RunResults r = sample::make();
  const std::string reason =
      "\n  model FLOPs count masked scores and dropped tokens, as papers do; kernels leave them out\n";
  CHECK(summary_of(r).find(reason) == std::string::npos);
  r.model_flops = 6e15;
  CHECK(summary_of(r).find("model FLOPs         120.2 % of peak    hardware FLOPs        100.2 % of peak" + reason) !=
        std::string::npos);
}

TEST_CASE("FLOPs of a job whose peak is not known are no share of it") {
  RunResults r = sample::make();
  r.peak_flops = 0;
  CHECK(summary_of(r).find("of peak") == std::string::npos);
}

TEST_CASE("plans that a search simulated are shown by their time, those that cannot run are counted") {
  RunResults r = sample::make();
  const Time ms = millisecond;
  r.search = {{0, "{M}", "simulated", 220 * ms, false, "not the fastest", 220 * ms, "search", 200 * ms},
              {1, "{N}", "simulated", 190 * ms, true, "", 190 * ms, "search", 210 * ms},
              {2, "{K}", "simulated", 0, false, "does not fit", 190 * ms, "search without P", 230 * ms},
              {3, "{K}", "estimate", 100 * ms, false, "", 190 * ms, "", 0}};
  CHECK(summary_of(r).find(R"(
plans of the search, by simulated time           predicted     simulated
  search (taken)                                    210 ms        190 ms
  search                                            200 ms        220 ms
  and 2 more in /search
)") != std::string::npos);
  r.search_is_timed = true;  // then it depends on the computer
  CHECK(summary_of(r).find("and 2 more in /provenance/search") != std::string::npos);
  CHECK(summary_of(sample::make()).find("plans of the search") == std::string::npos);
}

TEST_CASE("a summary stays short and narrow") {
  // 40 collectives and a plan of 30 entries: collectives are cut to the eight that take the most time, the plan is
  // wrapped.
  RunResults r = sample::make();
  for (int i = 0; i < 30; ++i) r.plan.emplace_back("a property with a long name", std::to_string(i));
  for (std::uint32_t i = 0; i < 40; ++i) r.collective_rows.push_back({0, 0, 0, 100 + i, 1, 1, second + i, 1});
  const std::string text = summary_of(r);
  CHECK(text.find("and 34 more in /collectives") != std::string::npos);
  std::istringstream lines(text);
  std::size_t widest = 0, count = 0;
  for (std::string line; std::getline(lines, line); ++count) widest = std::max(widest, line.size());
  CHECK(widest <= 100);
  CHECK(count <= 45);
}

TEST_CASE("numbers for people") {
  CHECK(precise_time(0) == "0 ps");
  CHECK(precise_time(18'130 * millisecond) == "18.13 s");
  CHECK(precise_time(287 * microsecond) == "287.0 us");
  CHECK(precise_time(999'990 * microsecond) == "1.000 s");
  CHECK(precise_time(1'234 * second) == "1234 s");
  CHECK(short_count(0) == "0");
  CHECK(short_count(999) == "999");
  CHECK(short_count(131'072) == "131,072");
  CHECK(short_count(12'345'678) == "12.3 M");
  CHECK(short_count(1.0082e12) == "1.01 T");
  CHECK(percent(1, 3) == "33.3 %");
  CHECK(percent(1, 0) == "-");
}
