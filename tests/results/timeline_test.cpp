// The exported trace, parsed again and compared with the intervals that went in.
#include <catch2/catch.hpp>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "folder.hpp"
#include "sample.hpp"
#include "tessera/base/error.hpp"

using namespace tessera;
using namespace tessera::results;
using nlohmann::json;

namespace {

json trace_of(const sample::Folder& folder, const RunResults& results) {
  const auto comm = make_serial_communicator();
  write(folder / "out.h5", results, sample::provenance(), *comm);
  export_timeline(folder / "out.h5", folder / "t.json");
  return json::parse(sample::read_text(folder / "t.json"));
}

std::vector<json> of_phase(const json& trace, const std::string& phase) {
  std::vector<json> events;
  for (const json& event : trace.at("traceEvents")) {
    if (event.at("ph") == phase) events.push_back(event);
  }
  return events;
}

}  // namespace

TEST_CASE("devices are processes, streams are threads, both named") {
  // 8 devices with 2 streams: 8 processes from 1 on, 16 threads whose numbers are never used twice.
  const sample::Folder folder;
  const json trace = trace_of(folder, sample::make());
  std::map<int, std::string> processes;
  std::map<int, int> process_of_thread;
  for (const json& event : of_phase(trace, "M")) {
    if (event.at("name") == "process_name") processes[event.at("pid")] = event.at("args").at("name");
    if (event.at("name") == "thread_name") {
      CHECK(process_of_thread.emplace(event.at("tid"), event.at("pid")).second);
    }
  }
  CHECK(processes.size() == 8);
  CHECK(processes.at(1) == "gpu 0");
  CHECK(processes.at(8) == "gpu 7");
  CHECK(process_of_thread.size() == 16);
  for (const json& event : of_phase(trace, "X")) CHECK(process_of_thread.at(event.at("tid")) == event.at("pid"));
}

TEST_CASE("every interval is a slice, to the picosecond, named by its label or else by its activity") {
  const sample::Folder folder;
  RunResults r = sample::make({1, 0, 0});
  r.intervals = {{0, 0, 1, 0, 1'000'001, 3'000'004}, {0, 0, 0, 3, 3'000'004, 5'000'000}};
  const auto slices = of_phase(trace_of(folder, r), "X");
  REQUIRE(slices.size() == 2);
  CHECK(slices[0].at("name") == "layer forward");
  CHECK(slices[0].at("cat") == "forward");
  CHECK(slices[0].at("ts").get<double>() == Approx(1.000001).epsilon(1e-12));
  CHECK(slices[0].at("dur").get<double>() == Approx(2.000003).epsilon(1e-12));
  CHECK(slices[1].at("name") == "bubble");
  CHECK(slices[1].at("cat") == "bubble");
}

TEST_CASE("slices say what is known of them, and streams what they are for") {
  const sample::Folder folder;
  RunResults r = sample::make({2, 0, 0});
  r.stream_names = {{0, 0, "main"}, {0, 1, "the \"other\" one"}, {1, 0, "stage 1"}};
  r.groups = {"gpu 0, gpu 1"};
  r.intervals = {{0, 0, 1, 0, 0, 10, 0, -1, 3}, {0, 1, 2, 2, 5, 9, 4096, 0}, {1, 0, 1, 0, 0, 1}};
  const json trace = trace_of(folder, r);
  const auto slices = of_phase(trace, "X");
  REQUIRE(slices.size() == 3);
  CHECK(slices[0].at("args") == json{{"micro_batch", 3}});
  CHECK(slices[1].at("args") == json{{"bytes", 4096}, {"group", "gpu 0, gpu 1"}});
  CHECK_FALSE(slices[2].contains("args"));
  std::vector<std::string> threads;
  for (const json& event : of_phase(trace, "M"))
    if (event.at("name") == "thread_name") threads.push_back(event.at("args").at("name"));
  CHECK(threads == std::vector<std::string>{"main stream", "stream 1: the \"other\" one", "main stream: stage 1"});
}

TEST_CASE("messages are arrows from the slice of the send to that in which they are received") {
  // Device 0 sends two messages on channel 5 and one on channel 6 in no time; device 1 waits for the first one, in a
  // bubble until it was posted. Each arrow has a number of its own.
  const sample::Folder folder;
  RunResults r = sample::make({2, 0, 0});
  const auto end = [](std::uint32_t device, Time from, Time to, std::int32_t channel, std::int32_t message) {
    return Interval{device,
                    0,
                    0,
                    2,
                    from,
                    to,
                    100,
                    -1,
                    -1,
                    device == 0,
                    channel,
                    message,
                    device == 0 ? MessageEnd::sent : MessageEnd::taken};
  };
  r.intervals = {end(0, 1'000'000, 1'000'000, 5, 0), end(0, 1'000'000, 1'000'000, 6, 0),
                 end(0, 1'000'000, 1'000'000, 5, 1), {1, 0, 0, 3, 0, 1'000'000, 100, -1, -1, 0, 5},
                 end(1, 1'000'000, 3'000'000, 5, 0), end(1, 3'000'000, 3'000'000, 5, 1),
                 end(1, 3'000'000, 4'000'000, 6, 0)};
  const json trace = trace_of(folder, r);
  const auto sent = of_phase(trace, "s"), taken = of_phase(trace, "f");
  REQUIRE(sent.size() == 3);
  REQUIRE(taken.size() == 3);
  CHECK(taken[0].at("id") == sent[0].at("id"));
  CHECK(taken[1].at("id") == sent[2].at("id"));
  CHECK(taken[2].at("id") == sent[1].at("id"));
  CHECK(std::set<json>{sent[0].at("id"), sent[1].at("id"), sent[2].at("id")}.size() == 3);
  // An arrow belongs to the slice before it in the file that begins at its time on its thread.
  const json& events = trace.at("traceEvents");
  for (std::size_t i = 0; i < events.size(); ++i) {
    if (events[i].at("ph") != "s" && events[i].at("ph") != "f") continue;
    CHECK(events[i - 1].at("ph") == "X");
    for (const char* key : {"pid", "tid", "ts"}) CHECK(events[i].at(key) == events[i - 1].at(key));
    if (events[i].at("ph") == "f") CHECK(events[i].at("bp") == "e");
  }
  CHECK(of_phase(trace, "X")[3].at("args") == json{{"bytes", 100}, {"peer", "gpu 0"}, {"channel", 5}});
  // Of one device alone there is nothing at the other end.
  export_timeline(folder / "out.h5", folder / "t.json", {{{1, 1}}});
  CHECK(of_phase(json::parse(sample::read_text(folder / "t.json")), "f").empty());
}

TEST_CASE("slices of a thread do not overlap") {
  const sample::Folder folder;
  std::map<int, double> end_of_thread;
  for (const json& event : of_phase(trace_of(folder, sample::make()), "X")) {
    double& end = end_of_thread[event.at("tid")];
    CHECK(event.at("ts").get<double>() >= end - 1e-9);
    end = event.at("ts").get<double>() + event.at("dur").get<double>();
  }
}

TEST_CASE("memory over time becomes counters") {
  const sample::Folder folder;
  const auto counters = of_phase(trace_of(folder, sample::make()), "C");
  CHECK(counters.size() == 8 * 6);
  CHECK(counters[0].at("name") == "memory: weights");
  CHECK(counters[0].at("args").at("bytes") == 1000);
}

TEST_CASE("names are escaped") {
  const sample::Folder folder;
  RunResults r = sample::make({1, 0, 0});
  r.labels = {"", "a \"quoted\" \\ name\nwith a line"};
  r.collective_rows.clear();
  r.intervals = {{0, 0, 1, 0, 0, 1}};
  CHECK(of_phase(trace_of(folder, r), "X").at(0).at("name") == r.labels[1]);
}

TEST_CASE("a file without a timeline, and an output that cannot be written") {
  const sample::Folder folder;
  const auto comm = make_serial_communicator();
  write(folder / "out.h5", sample::make({8, 20, 0}), sample::provenance(), *comm);
  CHECK_THROWS_AS(export_timeline(folder / "out.h5", folder / "t.json"), InputError);
  write(folder / "out.h5", sample::make(), sample::provenance(), *comm);
  CHECK_THROWS_WITH(export_timeline(folder / "out.h5", folder / "out.h5/t.json"),
                    "cannot write '" + folder / "out.h5/t.json" + "': '" + folder / "out.h5" + "' is not a directory");
  CHECK(sample::files_in(folder.path) == std::vector<std::string>{"out.h5"});
}
