// What of a run goes into a row is what its result file says, however the devices are spread over ranks.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>

#include "../../src/results/h5/reader.hpp"
#include "sample.hpp"
#include "support/world.hpp"
#include "tessera/base/error.hpp"
#include "tessera/base/messages.hpp"
#include "tessera/results/digest.hpp"

using namespace tessera;
using namespace tessera::results;
namespace fs = std::filesystem;

namespace {

/// Everything that a digest holds, from the file alone.
Digest read_digest(const std::string& path) {
  const h5::Reader file(path);
  Digest digest;
  const h5::Rows summary = file.read("/summary");
  for (std::size_t c = 0; c < summary.columns().size(); ++c) {
    const ColumnType type = summary.columns()[c].type;
    digest.summary.emplace_back(summary.columns()[c].name, type == ColumnType::text ? PointCell{summary.text(0, c)}
                                                           : type == ColumnType::float64
                                                               ? PointCell{summary.number(0, c)}
                                                               : PointCell{summary.integer(0, c)});
  }
  const auto time = static_cast<double>(summary.integer(0, "iteration_time_ps"));
  const h5::Rows links = file.read("/links");
  for (const char* name : {"nvlink", "nic"}) {
    double busy = 0, count = 0, peak = 0;
    for (std::size_t i = 0; i < links.size(); ++i) {
      if (links.text(i, "link_class") != name) continue;
      busy += static_cast<double>(links.integer(i, "busy_ps"));
      peak = std::max(peak, links.number(i, "utilisation"));
      ++count;
    }
    if (count > 0) digest.links.push_back({name, busy / (count * time), peak});
  }
  const h5::Rows memory = file.read("/memory");
  for (std::size_t i = 0; i < memory.size(); ++i) {
    if (memory.integer(i, "device") == summary.integer(0, "peak_memory_device"))
      digest.memory.emplace_back(memory.text(i, "category"), memory.integer(i, "at_peak"));
  }
  return digest;
}

}  // namespace

TEST_CASE("a digest says what the file says, on any number of ranks") {
  test::World w;
  const int ranks = w.comm.size();
  std::string folder = (fs::temp_directory_path() / "tessera-digest-XXXXXX").string();
  if (w.comm.rank() == 0) REQUIRE(mkdtemp(folder.data()) != nullptr);
  folder = broadcast(w.comm, folder);
  const std::string path = folder + "/out.h5";
  const std::vector<std::pair<std::string, sample::Owner>> spreads{
      {"dealt out", [=](std::uint32_t id) { return static_cast<int>(id) % ranks; }},
      {"all on the last", [=](std::uint32_t) { return ranks - 1; }},
      {"in blocks", [=](std::uint32_t id) { return std::min(ranks - 1, static_cast<int>(id / 3)); }}};
  for (const auto& [name, owner] : spreads) {
    INFO(name);
    const RunResults r = sample::make({8, 21, 0}, w.comm.rank(), owner);
    write(path, r, sample::provenance(), w.comm);
    const Digest found = digest(r, sample::provenance().seed, w.comm);
    if (w.comm.rank() != 0) {
      CHECK(found == Digest{});
      continue;
    }
    CHECK(found == read_digest(path));
    // Links 0 .. 20 are busy for (number mod 20) x 0.1 s of 2 s. nvlink has the 11 even ones: 0 + 2 + ... + 18 + 0 =
    // 90, so 9 s of 22; nic the 10 odd ones: 1 + 3 + ... + 19 = 100, so 10 s of 20.
    CHECK(found.links == std::vector<Digest::LinkClass>{{"nvlink", 9.0 / 22, 0.9}, {"nic", 0.5, 0.95}});
    // Device 4 is the first of those with 44 GB, a quarter of it weights.
    CHECK(found.memory == std::vector<std::pair<std::string, std::int64_t>>{{"weights", 11'000'000'000},
                                                                            {"activations", 33'000'000'000}});
  }
  w.comm.barrier();
  if (w.comm.rank() == 0) fs::remove_all(folder);
}

TEST_CASE("classes without links are left out, categories without memory are zero") {
  test::World w;
  const int last = w.comm.size() - 1;
  RunResults r = sample::make({2, 1, 0}, w.comm.rank(), [&](std::uint32_t) { return last; });
  r.memory_rows.clear();
  const Digest found = digest(r, 1, w.comm);
  if (w.comm.rank() != 0) return;
  CHECK(found.links == std::vector<Digest::LinkClass>{{"nvlink", 0, 0}});
  CHECK(found.memory == std::vector<std::pair<std::string, std::int64_t>>{{"weights", 0}, {"activations", 0}});
}

TEST_CASE("a bad row of one rank is an error on every rank") {
  test::World w;
  RunResults r = sample::make({8, 20, 0}, w.comm.rank(), [&](std::uint32_t id) { return id % w.comm.size(); });
  if (w.comm.rank() == w.comm.size() - 1) r.link_rows.front().link_class = 9;
  CHECK_THROWS_AS(digest(r, 1, w.comm), InternalError);
}
