#include "cache.hpp"

#include <fmt/format.h>

#include <filesystem>

#include "fingerprint.hpp"
#include "tessera/base/error.hpp"
#include "tessera/base/hash.hpp"
#include "tessera/base/messages.hpp"
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

/// Rank 0 says it; the search does without.
void warn(const Cache& cache, const std::string& what, config::Diagnostics& diagnostics) {
  diagnostics.warn({"--cache " + cache.folder, 0, 0}, what + "; the search goes on without it");
}

/// The file's text, empty when there is none.
std::string read(const Cache& cache, const std::string& file) {
  std::error_code error;
  std::filesystem::create_directories(cache.folder, error);
  if (error) throw IoError("cannot make this folder: " + error.message());
  return read_file(file).value_or("");
}

program::Measurements merged(const std::vector<std::string>& parts) {
  program::Measurements whole;
  for (const std::string& part : parts) static_cast<void>(whole.add(part));
  return whole;
}

}  // namespace

Kept read_cache(const Cache& cache, const config::Table& resolved, Communicator& comm,
                config::Diagnostics& diagnostics) {
  Kept kept;
  if (cache.folder.empty()) return kept;
  std::string text;
  together(comm, [&] {
    if (comm.rank() != 0) return;
    const std::string file = path(cache, resolved);
    try {
      text = read(cache, file);
      if (!text.empty() && !program::Measurements().add(text))
        diagnostics.warn({file, 0, 0}, "damaged, everything is measured anew");
      kept.can_be_written = true;
    } catch (const Error& error) {
      warn(cache, error.what(), diagnostics);
    }
  });
  static_cast<void>(kept.measurements.add(broadcast(comm, text)));
  return kept;
}

void write_cache(const Cache& cache, const config::Table& resolved, const Kept& kept, Communicator& comm,
                 config::Diagnostics& diagnostics) {
  if (cache.folder.empty() || comm.max(kept.measurements.is_new() ? 1 : 0) == 0) return;
  const std::vector<std::string> all = gather(comm, kept.measurements.text());
  together(comm, [&] {
    if (!kept.can_be_written) return;
    try {
      results::write_text(path(cache, resolved), merged(all).text());
    } catch (const Error& error) {
      diagnostics.warn({"--cache " + cache.folder, 0, 0},
                       std::string(error.what()) + "; the next search measures all of it again");
    }
  });
}

}  // namespace tessera::experiment
