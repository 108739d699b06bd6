// What can be seen before time zero: each test is a small program with one mistake and the message that names it.
#include <catch2/catch.hpp>

#include <chrono>

#include "machines.hpp"
#include "tessera/program/collective.hpp"
#include "tessera/program/program.hpp"

namespace tessera::program {
namespace {

using Texts = std::vector<std::string>;

/// Devices that run the same block, each with its neighbours in peer slots 0 (next) and 1 (previous), and the group of
/// all in slot 0.
struct Ring {
  machine::Machine machine;
  Program program;

  explicit Ring(std::uint32_t devices) : machine(line_of(devices)) {
    program.devices.resize(devices);
    program.groups.emplace_back();
    for (DeviceId i = 0; i < devices; ++i) {
      program.devices[i].peers = {(i + 1) % devices, (i + devices - 1) % devices};
      program.devices[i].groups = {0};
      program.groups[0].members.push_back(i);
    }
  }
  void run(DeviceId device, BlockId block) { program.devices[device].streams = {block}; }
  void run_all(BlockId block) {
    for (DeviceProgram& device : program.devices) device.streams = {block};
  }
  [[nodiscard]] BlockBuilder block(const char* name = "main") { return {program, name}; }
  [[nodiscard]] Texts problems() const { return check_program(program, machine); }
};

Collective all_reduce(std::int64_t bytes) {
  Collective collective;
  collective.bytes = Bytes{bytes};
  collective.algorithm = algorithm_index("ring");
  return collective;
}

}  // namespace

TEST_CASE("a program without mistakes has no problems") {
  Ring ring(4);
  const BlockId inner =
      ring.block("step").send(0, Bytes{100}).receive(1, Bytes{100}).collective(all_reduce(64)).signal(0).done();
  ring.run_all(ring.block().allocate(MemoryCategory::weights, Bytes{8}).call(inner, 1'000'000).wait(0, 999'999).done());
  for (DeviceProgram& device : ring.program.devices) device.events = 1;
  CHECK(ring.problems() == Texts{});
}

TEST_CASE("a receive without a sender, a send without a receiver") {
  Ring ring(4);
  ring.run(3, ring.block().receive(1, Bytes{4'000'000}).done());
  CHECK(ring.problems() ==
        Texts{"device 3 receives 4 MB from device 2 on channel 0, but device 2 sends nothing to it there"});
  ring.run(2, ring.block().send(0, Bytes{4'000'000}, 7).done());
  CHECK(ring.problems() ==
        Texts{"device 3 receives 4 MB from device 2 on channel 0, but device 2 sends nothing to it there",
              "device 2 sends 4 MB to device 3 on channel 7, but device 3 receives nothing from it there"});
}

TEST_CASE("the first message that differs is found in loops that are nested differently") {
  Ring ring(2);
  // 6,000,000 messages of 10 bytes, but the sender's number 4,000,001 has 20.
  const BlockId send10 = ring.block().send(0, Bytes{10}).done();
  const BlockId sends = ring.block().call(send10, 1000).done();
  ring.run(0, ring.block().call(sends, 4000).send(0, Bytes{20}).call(send10, 1'999'999).done());
  const BlockId receives = ring.block().receive(1, Bytes{10}).receive(1, Bytes{10}).receive(1, Bytes{10}).done();
  ring.run(1, ring.block().call(receives, 2'000'000).done());
  CHECK(ring.problems() ==
        Texts{"device 0 to device 1 on channel 0: message 4000001 is sent with 20 B, but received with 10 B"});
}

TEST_CASE("one message too few") {
  Ring ring(2);
  ring.run(0, ring.block().send(0, Bytes{10}).send(0, Bytes{10}).done());
  ring.run(1, ring.block().receive(0, Bytes{10}).done());
  CHECK(ring.problems() == Texts{"device 0 to device 1 on channel 0: sent 2 times, received once"});
}

TEST_CASE("two slots that mean the same device are one sequence") {
  // On two devices next and previous are one: what is sent to the next and to the previous arrives in the order of the
  // code.
  Ring ring(2);
  ring.run(0, ring.block().send(0, Bytes{10}).send(1, Bytes{20}).done());
  ring.run(1, ring.block().receive(0, Bytes{10}).receive(1, Bytes{20}).done());
  CHECK(ring.problems() == Texts{});
  ring.run(1, ring.block().receive(0, Bytes{20}).receive(1, Bytes{10}).done());
  CHECK(ring.problems() ==
        Texts{"device 0 to device 1 on channel 0: message 1 is sent with 10 B, but received with 20 B"});
}

TEST_CASE("two streams may not share a channel or a group") {
  Ring ring(2);
  const BlockId send = ring.block().send(0, Bytes{10}).done();
  ring.program.devices[0].streams = {send, send};
  ring.run(1, ring.block().receive(0, Bytes{10}).receive(0, Bytes{10}).done());
  CHECK(ring.problems() ==
        Texts{"device 0 sends to device 1 on channel 0 in streams 0 and 1: the order would depend on "
              "time, give each stream its own channel"});
  const BlockId reduce = ring.block().collective(all_reduce(8)).done();
  for (DeviceProgram& device : ring.program.devices) device.streams = {reduce, reduce};
  CHECK(ring.problems() == Texts{"all-reduce of group [0, 1]: device 0 calls it in streams 0 and 1: the order would "
                                 "depend on time, give each stream a group of its own"});
}

TEST_CASE("a collective that a member never joins, or joins with another size, order or too rarely") {
  Ring ring(8);
  ring.run_all(ring.block().collective(all_reduce(4'000'000)).done());
  ring.program.devices[5].streams = {};
  CHECK(ring.problems() == Texts{"all-reduce of group [0..7]: device 5 never joins"});
  ring.run(5, ring.block().collective(all_reduce(2'000'000)).done());
  CHECK(ring.problems() == Texts{"all-reduce of group [0..7]: device 5 joins with 2 MB, device 0 with 4 MB"});
  ring.run(5, ring.block().collective(all_reduce(4'000'000)).collective(all_reduce(4'000'000)).done());
  CHECK(ring.problems() == Texts{"all-reduce of group [0..7]: device 5 joins 2 times, device 0 once"});
  Collective gather = all_reduce(4'000'000);
  gather.kind = CollectiveKind::all_gather;
  ring.run_all(ring.block().collective(all_reduce(4'000'000)).collective(gather).done());
  ring.run(5, ring.block().collective(gather).collective(all_reduce(4'000'000)).done());
  CHECK(ring.problems() ==
        Texts{"all-reduce of group [0..7] (call 1): device 5 joins with all-gather, device 0 with all-reduce"});
  Collective direct = all_reduce(4'000'000);
  direct.algorithm = algorithm_index("direct");
  ring.run_all(ring.block().collective(direct).done());
  ring.run(5, ring.block().collective(all_reduce(4'000'000)).done());
  CHECK(ring.problems() ==
        Texts{"all-reduce of group [0..7]: device 5 joins with algorithm ring, device 0 with algorithm direct"});
}

TEST_CASE("groups that overlap in one slot leave somebody out") {
  Ring ring(3);
  ring.program.groups = {{{0, 1}}, {{1, 2}}};
  ring.program.devices[2].groups = {1};
  ring.run_all(ring.block().collective(all_reduce(64)).done());
  CHECK(ring.problems() ==
        Texts{"all-reduce of group [1, 2]: device 1 never joins (it is bound to group [0, 1]: groups overlap)"});
}

TEST_CASE("groups with repeated, missing or foreign members") {
  Ring ring(4);
  ring.program.groups = {{{0, 1, 2, 1}}, {{0, 9}}, {}};
  CHECK(ring.problems() == Texts{"group [0, 1, 2, 1]: device 1 is in it more than once",
                                 "group [0, 9]: device 9 does not exist, the machine has 4",
                                 "a group without members"});
  ring.program.groups = {{{0, 1, 2}}};
  ring.run_all(ring.block().collective(all_reduce(60)).done());
  CHECK(ring.problems() == Texts{"all-reduce of group [0, 1, 2]: device 3 joins, but is no member"});
}

TEST_CASE("a collective that does not fit its group or algorithm") {
  Ring ring(4);
  Collective mesh = all_reduce(64);
  mesh.algorithm = algorithm_index("mesh");
  ring.run_all(ring.block().collective(mesh).collective(all_reduce(65)).done());
  CHECK(ring.problems() == Texts{"all-reduce of group [0..3]: mesh needs a mesh or a torus",
                                 "all-reduce of group [0..3]: 65 bytes are not a whole number of elements of 2 bytes"});
}

TEST_CASE("a dead device takes no part") {
  Ring ring(4);
  ring.machine.speed[2] = 0;
  ring.run_all(ring.block().collective(all_reduce(64)).done());
  CHECK(ring.problems() == Texts{"device 2 is dead and cannot take part"});
  ring.program.devices[2].streams = {};
  CHECK(ring.problems() == Texts{"all-reduce of group [0..3]: device 2 never joins (it is dead)"});
}

TEST_CASE("an event that is raised less often than awaited") {
  Ring ring(2);
  const BlockId raise = ring.block("side").signal(1, 3).done();
  const BlockId await = ring.block().wait(1, 4).done();
  ring.program.devices[1].streams = {await, raise};
  ring.program.devices[1].events = 2;
  CHECK(ring.problems() == Texts{"device 1 waits for event 1 4 times, but raises it 3 times"});
  ring.program.devices[1].streams = {await};
  CHECK(ring.problems() == Texts{"device 1 waits for event 1 4 times, but raises it never"});
}

TEST_CASE("a stream that waits for what only it raises, later") {
  Ring ring(2);
  ring.program.devices[1].events = 2;
  ring.run(1, ring.block().wait(1).signal(1).done());
  CHECK(ring.problems() ==
        Texts{"device 1, stream 0 waits for event 1, which only it raises later: it would wait for ever"});
  // The other way round it goes on at once, and so it does when another stream raises the event.
  ring.run(1, ring.block().signal(1).wait(1).done());
  CHECK(ring.problems() == Texts{});
  const BlockId early = ring.block().wait(1).signal(1).done();
  ring.program.devices[1].streams = {early, ring.block().signal(1).done()};
  CHECK(ring.problems() == Texts{});
}

TEST_CASE("a stream whose repeats run ahead of its own signals") {
  Ring ring(2);
  ring.program.devices[0].events = 1;
  // Each pass awaits one more than it raises: after 2 passes of wait(3) signal(2) with 4 raised before, the balance is
  // 4 - 3 = 1, 3, 0, 2; the third pass would need 3 of 2, and the signals behind come too late.
  const BlockId pass = ring.block("pass").wait(0, 3).signal(0, 2).done();
  ring.run(0, ring.block().signal(0, 4).call(pass, 2).signal(0, 9).done());
  CHECK(ring.problems() == Texts{});
  ring.run(0, ring.block().signal(0, 4).call(pass, 3).signal(0, 9).done());
  CHECK(ring.problems() ==
        Texts{"device 0, stream 0 waits for event 0, which only it raises later: it would wait for ever"});
  // One more from beside is enough for the third pass, not for a fourth.
  const BlockId beside = ring.block("beside").signal(0).done();
  ring.program.devices[0].streams.push_back(beside);
  CHECK(ring.problems() == Texts{});
  ring.program.devices[0].streams[0] = ring.block().signal(0, 4).call(pass, 4).signal(0, 9).done();
  CHECK(ring.problems() == Texts{"device 0, stream 0 waits for event 0, which others raise once and only it raises "
                                 "later: it would wait for ever"});
}

TEST_CASE("slots and indexes out of range, and slots that are not bound") {
  Ring ring(2);
  ring.run(0, ring.block().send(2, Bytes{8}).done());
  CHECK(ring.problems() == Texts{"device 0, stream 0 uses peer slot 2 of 2"});
  ring.program.devices[0].peers.push_back(no_device);
  CHECK(ring.problems() == Texts{"device 0, stream 0 uses peer slot 2, which is not bound"});
  ring.program.devices[0].peers[2] = 5;
  CHECK(ring.problems() == Texts{"device 0, stream 0 uses peer slot 2, bound to 5 of 2"});
  Collective elsewhere = all_reduce(8);
  elsewhere.group_slot = 3;
  ring.run(0, ring.block().collective(elsewhere).done());
  CHECK(ring.problems() == Texts{"device 0, stream 0 uses group slot 3 of 1"});
  ring.run(0, ring.block().wait(0).done());
  CHECK(ring.problems() == Texts{"device 0, stream 0 uses event 0 of 0"});
  ring.program.devices[0].streams = {99};
  CHECK(ring.problems() == Texts{"device 0, stream 0: block 99 of 3"});
  ring.program.blocks[0].code = {{Op::compute, Activity::forward, 0, 4, 0, 1, 0}};
  CHECK(ring.problems() == Texts{"block 0 (\"main\"), instruction 0: operator 4 of 0"});
  ring.program.blocks[0].code = {{Op::send, Activity::forward, 0, 0, 0, 1, -1}};
  CHECK(ring.problems() == Texts{"block 0 (\"main\"), instruction 0: a size of -1 bytes"});
}

TEST_CASE("blocks may not recurse") {
  Ring ring(1);
  const BlockId first = ring.block("first").call(1).done();
  ring.run(0, ring.block("second").call(first).done());
  CHECK(ring.problems() ==
        Texts{"block 0 (\"first\") calls block 1 (\"second\") calls block 0 (\"first\"): blocks may not recurse"});
}

TEST_CASE("a phase is over once: not in what is called several times") {
  Ring ring(1);
  const BlockId last = ring.block("last").end_phase("prompt").done();
  const BlockId pass = ring.block("pass").call(last).done();
  ring.run(0, ring.block().call(pass).end_phase("generation").done());
  CHECK(ring.problems().empty());
  CHECK(ring.program.phases == Texts{"prompt", "generation"});
  ring.run(0, ring.block("twice").call(pass, 2).done());
  CHECK(ring.problems() == Texts{"block 3 (\"twice\") calls block 1 (\"pass\"), in which a phase is over, 2 times"});
}

TEST_CASE("memory that was never allocated, by whichever stream") {
  Ring ring(1);
  const BlockId pass = ring.block("pass")
                           .allocate(MemoryCategory::buffers, Bytes{10})
                           .release(MemoryCategory::buffers, Bytes{12})
                           .done();
  ring.run(0, ring.block().allocate(MemoryCategory::buffers, Bytes{5}).call(pass, 4).done());
  CHECK(ring.problems() == Texts{"device 0 releases 3 B of buffers more than it has allocated"});
  // Stream 1 releases what stream 0 has allocated; 8 B are 3 B too many, whenever they are released.
  const BlockId five = ring.block("five").allocate(MemoryCategory::buffers, Bytes{5}).done();
  const BlockId less = ring.block("less").release(MemoryCategory::buffers, Bytes{5}).done();
  const BlockId more = ring.block("more").release(MemoryCategory::buffers, Bytes{8}).done();
  ring.program.devices[0].streams = {five, less};
  CHECK(ring.problems().empty());
  ring.program.devices[0].streams = {five, more};
  CHECK(ring.problems() == Texts{"device 0 releases 3 B of buffers more than it has allocated"});
  // 8 B at one time although no other stream ever holds more than 5 B: it is no help that all adds up in the end.
  const BlockId early =
      ring.block("early").release(MemoryCategory::buffers, Bytes{8}).allocate(MemoryCategory::buffers, Bytes{8}).done();
  ring.program.devices[0].streams = {five, early};
  CHECK(ring.problems() == Texts{"device 0 releases 3 B of buffers more than it has allocated"});
}

TEST_CASE("a program for another machine") {
  Ring ring(2);
  ring.machine = line_of(3);
  CHECK(ring.problems() == Texts{"the program is for 2 devices, the machine has 3"});
}

TEST_CASE("a mistake on thousands of devices is reported in a few lines") {
  Ring ring(3000);
  ring.run_all(ring.block().receive(1, Bytes{8}).done());
  const Texts problems = ring.problems();
  REQUIRE(problems.size() == 9);
  CHECK(problems.back() == "and 2992 more like these");
}

TEST_CASE("3,072 devices with large loops are checked in far less than a second") {
  Ring ring(3072);
  for (DeviceId i = 0; i < 3072; ++i) {
    if (i % 8 == 0) ring.program.groups.emplace_back();
    ring.program.groups.back().members.push_back(i);
    ring.program.devices[i].groups.push_back(static_cast<GroupId>(ring.program.groups.size() - 1));
  }
  Collective tensor = all_reduce(1 << 20);
  tensor.group_slot = 1;
  BlockBuilder layer(ring.program, "layer");
  for (int i = 0; i < 50; ++i) layer.collective(tensor).send(0, Bytes{100 + i}).receive(1, Bytes{100 + i});
  const BlockId layers = layer.done();
  const BlockId micro = ring.block("micro-batch").call(layers, 128).done();
  ring.run_all(ring.block().call(micro, 3072).collective(all_reduce(1 << 20)).done());
  const auto begin = std::chrono::steady_clock::now();
  CHECK(ring.problems() == Texts{});
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
  CHECK(seconds.count() < 1.0);  // 0.004 s on one core of this kind of machine
}

}  // namespace tessera::program
