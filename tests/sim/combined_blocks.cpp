// Reduction in switches (T3, section 7.4), with the network that does it: what crosses each link, and when it is done.
#include <catch2/catch.hpp>

#include <string>

#include "gpu_shapes.hpp"
#include "program_case.hpp"

using namespace tessera;

namespace {

constexpr machine::NodeId star_devices = 3;

/// Three GPUs around a switch: 75 GB/s and 250 ns to it, and from it.
test::ProgramCase star(program::Reduction reduction, std::int64_t packet = 64 << 10, bool with_ring = false) {
  machine::NetworkBuilder builder(star_devices);
  const std::uint16_t type = builder.link_class("wire");
  const machine::NodeId middle = builder.add_switch("switch");
  for (machine::NodeId i = 0; i < star_devices; ++i) {
    builder.add_links_both_ways(i, middle, BytesPerSecond{75'000'000'000}, Duration{250 * nanosecond}, type);
    if (with_ring)
      builder.add_link(i, (i + 1) % star_devices, BytesPerSecond{75'000'000'000}, Duration{250 * nanosecond}, type);
  }
  test::ProgramCase one(test::machine_of(test::finish_network(builder, packet)));
  one.machine.device.transaction = test::gpu();
  one.group({0, 1, 2});
  program::Kernel kernel = test::kernel(test::gemm(3 * 128, 256, 32), "direct-reduce-scatter");
  std::get<program::GemmKernel>(kernel.work).reduction = reduction;
  auto main = one.block();
  main.activity(program::Activity::forward).label("gemm").kernel(kernel);
  const program::BlockId block = main.done();
  for (machine::NodeId i = 0; i < star_devices; ++i) one.bind(i, {block});
  return one;
}

}  // namespace

TEST_CASE("a switch adds what two GPUs store to the third: it crosses the last link once") {
  // A tile of 64 KiB each: of three a GPU sends two, and gets the sum of two others' parts of its own.
  for (const program::Reduction reduction : {program::Reduction::in_switch, program::Reduction::near_memory}) {
    const auto run = star(reduction).run();
    const bool added = reduction == program::Reduction::in_switch;
    CAPTURE(added);
    for (const results::LinkRow& link : run.results.link_rows)
      CHECK(link.bytes == (link.from < star_devices || !added ? 2 : 1) * 65'536);
    for (const results::DeviceRow& row : run.results.device_rows) {
      CHECK(row.bytes_sent == 2 * 65'536);
      CHECK(row.bytes_received == (added ? 1 : 2) * 65'536);
    }
    // The first work-groups have their blocks of 256 B within 332 to 432 ns: those of a channel are a few, one row
    // each. They store 1,462,858 ps + 5 us after that. From then on 16 parts of 8 KiB leave each GPU over 75 GB/s,
    // 1,747,627 ps; the last two of one sum meet 250 ns later, and go on over the last link in 109,227 ps, and 250 ns.
    // Without a switch that adds, both cross it, and the last of them waits for the other.
    const Time stored = 332 * nanosecond + 1'462'858 + 5 * microsecond;
    const Time alone = stored + 1'747'627 + 250 * nanosecond + 109'227 + 250 * nanosecond;
    CHECK(run.results.iteration_time >= alone);
    CHECK(run.results.iteration_time <= alone + 100 * nanosecond + (added ? 0 : 8 * 109'227));
  }
}

TEST_CASE("reduction in switches where nothing meets is refused") {
  CHECK(star(program::Reduction::in_switch, 64 << 10, true).refusal() ==
        "reduction in switches: what the others send to gpu 0 does not meet in one switch in front of it");
  CHECK(star(program::Reduction::in_switch, 4096).refusal() ==
        "reduction in switches adds packets, which are 4 KiB, but a wavefront's part of a tile is 8 KiB");
  CHECK(star(program::Reduction::near_memory, 4096, true).refusal().empty());
}
