// Chakra execution traces as scripts, and the times that come out.
#include <catch2/catch.hpp>

#include "chakra_files.hpp"
#include "importing.hpp"
#include "tessera/base/comm.hpp"
#include "tessera/experiment/run.hpp"

namespace tessera::experiment {
namespace {

namespace et = test::chakra;
using test::imported;
using test::Named;
using ChakraLines = std::vector<std::string>;

/// `nodes` of each of the ranks.
Named ranks(const std::vector<std::string>& nodes) {
  Named files;
  for (std::size_t rank = 0; rank < nodes.size(); ++rank)
    files.emplace_back("t." + std::to_string(rank) + ".et", et::trace(nodes[rank]));
  return files;
}

/// Imports for four devices in a ring: 100 GB/s and 500 ns a link, 1 TB/s of memory, 100 TFLOP/s in FP16.
struct OnRing {
  test::Folder folder;
  OnRing() { folder.write("ring.toml", test::ring); }
  test::Imported operator()(const Named& files, std::vector<std::string> without = {}) const {
    ImportRequest request = test::on(folder.path("ring.toml"));
    request.without = std::move(without);
    return imported(files, request);
  }
};

/// Simulated time, ps.
Time time_of(const test::Imported& made) {
  REQUIRE(made.errors == ChakraLines{});
  REQUIRE(made.built != nullptr);
  const auto comm = make_serial_communicator();
  return run(*made.built, *comm).results.iteration_time;
}

std::string micros(std::uint64_t count) { return et::number(7, count); }

const std::string all_reduce_1mib =
    et::attribute("is_cpu_op", 0, 27) + et::attribute("comm_type", 0) + et::attribute("comm_size", 1U << 20U);
/// On a ring of four: three steps in which a quarter (262,144 B at 100 GB/s, and 500 ns) comes and is added (two
/// operands read, one written, at 1 TB/s), and three in which one comes: 6 x 3,121,440 + 3 x 786,432 ps.
constexpr Time time_of_all_reduce = 6 * 3'121'440 + 3 * 786'432;

}  // namespace

TEST_CASE("an all-reduce of all ranks, solved by hand") {
  const std::string nodes = et::node(1, "sum", et::collective, {}, all_reduce_1mib);
  const auto made = OnRing()(ranks({nodes, nodes, nodes, nodes}));
  CHECK(time_of(made) == time_of_all_reduce);
  CHECK(made.text.find("{ devices = \"0-3\", op = \"all-reduce\", group = \"ranks\", bytes = \"1048576 B\"") !=
        std::string::npos);
}

TEST_CASE("an all-gather's size is what each member has before it") {
  // Three steps of 262,144 B: a whole of 1 MiB.
  const std::string nodes = et::node(1, "gather", et::collective, {},
                                     et::attribute("comm_type", 2) + et::attribute("comm_size", 1U << 18U, 13));
  CHECK(time_of(OnRing()(ranks({nodes, nodes, nodes, nodes}))) == 3 * 3'121'440);
}

TEST_CASE("what computes stands in one stream: measured times, or operations and bytes on this machine") {
  const std::string two = et::node(1, "a", et::compute, {}, micros(5)) + et::node(2, "b", et::compute, {1}, micros(7));
  CHECK(time_of(OnRing()(ranks({two, two}))) == 12'000'000);
  // 10^9 FLOP at 100 TFLOP/s take 10 us, 1 MB of it 1 us; 20 MB at 1 TB/s take 20 us.
  const auto work = [](std::uint64_t size) {
    return et::node(1, "a", et::compute, {},
                    et::attribute("num_ops", 1'000'000'000) + et::attribute("tensor_size", size) + micros(99));
  };
  CHECK(time_of(OnRing()(ranks({work(1'000'000), work(1'000'000)}))) == 10'000'000);
  CHECK(time_of(OnRing()(ranks({work(20'000'000), work(20'000'000)}))) == 20'000'000);
}

TEST_CASE("communication runs beside what does not wait for it, and what waits for it does") {
  const std::string beside =
      et::node(1, "sum", et::collective, {}, all_reduce_1mib) + et::node(2, "a", et::compute, {}, micros(10));
  CHECK(time_of(OnRing()(ranks({beside, beside, beside, beside}))) == time_of_all_reduce);
  const std::string behind =
      et::node(1, "sum", et::collective, {}, all_reduce_1mib) + et::node(2, "a", et::compute, {1}, micros(10));
  CHECK(time_of(OnRing()(ranks({behind, behind, behind, behind}))) == time_of_all_reduce + 10'000'000);
  // Metadata takes no time, and who waits for it waits for what it waits for.
  const std::string through = et::node(1, "a", et::compute, {}, micros(10)) + et::node(2, "m", et::metadata, {1}) +
                              et::node(3, "sum", et::collective, {2}, all_reduce_1mib);
  CHECK(time_of(OnRing()(ranks({through, through, through, through}))) == time_of_all_reduce + 10'000'000);
}

TEST_CASE("messages: rank 0 computes and sends, rank 1 receives and computes") {
  // 10 us, 1 MB over a link (10 us and 500 ns), 5 us.
  const std::string first =
      et::node(1, "a", et::compute, {}, micros(10)) +
      et::node(2, "to 1", et::send, {1},
               et::attribute("comm_size", 1'000'000) + et::attribute("comm_dst", 1) + et::attribute("comm_tag", 77));
  const std::string second =
      et::node(1, "from 0", et::receive, {},
               et::attribute("comm_size", 1'000'000) + et::attribute("comm_src", 0) + et::attribute("comm_tag", 77)) +
      et::node(2, "b", et::compute, {1}, micros(5));
  CHECK(time_of(OnRing()(ranks({first, second}))) == 25'500'000);
}

TEST_CASE("ranks that all do the same are said once, partners by their distance") {
  std::vector<std::string> all;
  for (std::uint64_t rank = 0; rank < 4; ++rank)
    all.push_back(et::node(1, "on", et::send, {},
                           et::attribute("comm_size", 1'000'000) + et::attribute("comm_dst", (rank + 1) % 4)) +
                  et::node(2, "in", et::receive, {},
                           et::attribute("comm_size", 1'000'000) + et::attribute("comm_src", (rank + 3) % 4)));
  const auto made = OnRing()(ranks(all));
  CHECK(time_of(made) == 10'500'000);
  CHECK(made.text.find("devices = \"0-3\", op = \"send\", shift = 1") != std::string::npos);
  CHECK(made.text.find("devices = \"0-3\", op = \"receive\", shift = 3") != std::string::npos);
}

TEST_CASE("process groups are who uses them") {
  const auto sum = [](const char* group) {
    return et::node(1, "sum", et::collective, {}, all_reduce_1mib + et::text_attribute("pg_name", group));
  };
  const auto made = OnRing()(ranks({sum("7"), sum("7"), sum("8"), sum("8")}));
  CHECK(made.text.find("{ name = \"group 7\", devices = \"0-1\" }") != std::string::npos);
  // Of two members each way half: 524,288 B at 100 GB/s and 500 ns, twice, and added once.
  CHECK(time_of(made) == 2 * (5'242'880 + 500'000) + 3 * 524'288);
}

TEST_CASE("what a script cannot say is refused by node and name") {
  const auto errors_of = [](const std::string& nodes, std::vector<std::string> without = {}) {
    return OnRing()(ranks({nodes, nodes}), std::move(without)).errors;
  };
  CHECK(errors_of(et::node(4, "weights", et::load, {}, et::attribute("tensor_size", 1024, 13))).front() ==
        "t.0.et: node 4 \"weights\" (MEM_LOAD_NODE): memory of another device: not modelled");
  const std::string host = et::node(1, "aten::add", et::compute, {}, et::attribute("is_cpu_op", 1, 27) + micros(3)) +
                           et::node(2, "kernel", et::compute, {1}, micros(4));
  CHECK(errors_of(host).front() ==
        "t.0.et: node 1 \"aten::add\" (COMP_NODE): an operation of the host (is_cpu_op): not modelled, --without "
        "is_cpu_op leaves all of them out");
  CHECK(time_of(OnRing()(ranks({host, host}), {"is_cpu_op"})) == 4'000'000);
  CHECK(errors_of(et::node(1, "r", et::collective, {}, et::attribute("comm_type", 1) + et::attribute("comm_size", 8)))
            .front()
            .find("REDUCE: not modelled, collectives that are") != std::string::npos);
  CHECK(errors_of(et::node(1, "s", et::send, {}, et::attribute("comm_size", 8)))
            .front()
            .find("comm_dst is missing, expected another rank, 0 to 1") != std::string::npos);
  CHECK(errors_of(et::node(1, "s", et::send, {}, et::attribute("comm_size", 8) + et::attribute("comm_dst", 5)))
            .front()
            .find("comm_dst is 5") != std::string::npos);
  CHECK(errors_of(et::node(1, "a", et::compute, {9}, micros(1))).front() ==
        "t.0.et: node 1 \"a\" waits for node 9, which is not there");
  CHECK(errors_of(et::node(1, "a", et::compute, {2}, micros(1)) + et::node(2, "b", et::compute, {1}, micros(1)))
            .front() == "t.0.et: node 1 \"a\" waits for itself, through others");
  CHECK(errors_of(et::node(1, "a", et::compute) + et::node(1, "b", et::compute)).front() ==
        "t.0.et: node 1 is there twice");
}

TEST_CASE("traces that are cut off, of no rank, or not of all ranks") {
  const std::string whole = et::trace(et::node(1, "a", et::compute, {}, micros(1)));
  const auto errors_of = [](const Named& files) { return OnRing()(files).errors; };
  CHECK(errors_of({{"t.0.et", whole.substr(0, whole.size() - 2)}}).front().find("t.0.et: byte ") == 0);
  CHECK(errors_of({{"t.et", whole}}).front() == "t.et: byte 0: the name says no rank, expected NAME.RANK.et");
  CHECK(errors_of({{"t.0.et", whole}, {"t.2.et", whole}}).front() ==
        "t.0.et: 2 traces are given, and none is of rank 1: all ranks of a job are needed");
  CHECK(errors_of({{"t.0.et", et::trace("")}}).front() == "t.0.et: byte 0: a trace without nodes");
  CHECK(errors_of({{"t.0.et", et::trace(et::message(et::number(1, 1) + et::number(3, 9)))}}).front() ==
        "t.0.et: byte 8: a node of type 9, known: 0 to 7");
  CHECK(errors_of(ranks(std::vector<std::string>(5, et::node(1, "a", et::compute, {}, micros(1)))))
            .front()
            .find("has 4 devices, the job 5 ranks") != std::string::npos);
  // Whatever the bytes are, it is one line.
  for (std::size_t size = 1; size < whole.size(); ++size)
    CHECK(errors_of({{"t.0.et", whole.substr(0, size)}}).size() == 1);
}

}  // namespace tessera::experiment
