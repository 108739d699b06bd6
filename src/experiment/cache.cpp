#include "cache.hpp"

#include <fmt/format.h>

#include <cstring>
#include <filesystem>

#include "fingerprint.hpp"
#include "tessera/base/error.hpp"
#include "tessera/base/hash.hpp"
#include "tessera/base/together.hpp"
#include "tessera/results/results.hpp"
#include "tree.hpp"

namespace tessera::experiment {
namespace {

std::string path(const Cache& cache, const config::Table& resolved) {
  const std::string all = fmt::format("{} {} {} {}", cache.version, fingerprint(resolved, "machine"),
                                      fingerprint(resolved, "cost"), fingerprint(resolved, "collectives"));
  return (std::filesystem::path(cache.folder) / fmt::format("measured-{:016x}.txt", hash_of(all))).string();
}

}  // namespace

program::Measurements read_cache(const Cache& cache, const config::Table& resolved, Communicator& comm) {
  program::Measurements known;
  if (cache.folder.empty()) return known;
  std::string text;
  together(comm, [&] {
    if (comm.rank() != 0) return;
    std::error_code error;
    std::filesystem::create_directories(cache.folder, error);
    if (error) throw IoError(fmt::format("{}: cannot make this folder: {}", cache.folder, error.message()));
    text = read_file(path(cache, resolved)).value_or("");
  });
  static_cast<void>(known.add(comm.broadcast(text)));
  return known;
}

void write_cache(const Cache& cache, const config::Table& resolved, const program::Measurements& measured,
                 Communicator& comm) {
  if (cache.folder.empty() || comm.max(measured.is_new() ? 1 : 0) == 0) return;
  const std::string own = measured.text();
  std::vector<std::byte> bytes(own.size());
  std::memcpy(bytes.data(), own.data(), own.size());
  const std::vector<std::vector<std::byte>> all = comm.gather(bytes);
  together(comm, [&] {
    if (comm.rank() != 0) return;
    program::Measurements whole;
    for (const std::vector<std::byte>& part : all) {
      std::string text(part.size(), '\0');
      std::memcpy(text.data(), part.data(), part.size());
      static_cast<void>(whole.add(text));
    }
    results::write_text(path(cache, resolved), whole.text());
  });
}

}  // namespace tessera::experiment
