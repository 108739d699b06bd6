#include "cache.hpp"

#include <fmt/format.h>

#include <algorithm>
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
  const std::string all = fingerprint(resolved, "machine") + " " + fingerprint(resolved, "cost");
  return (std::filesystem::path(cache.folder) / fmt::format("evaluated-{:016x}", hash_of(all))).string();
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

bool has_earlier_files(const Cache& cache) {
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(cache.folder, ignored)) {
    if (entry.path().filename().string().starts_with("measured-")) return true;
  }
  return false;
}

/// The first line of a file.
std::string head(const Cache& cache) { return "# Tessera " + cache.version + "\n"; }

/// What follows it; empty, and why is said, where the file is of another version or damaged.
std::string evaluations_of(const Cache& cache, const std::string& file, const std::string& text,
                           config::Diagnostics& diagnostics) {
  if (!text.starts_with(head(cache)) && text.starts_with("# Tessera ")) {
    diagnostics.warn({file, 0, 0}, "of another version of Tessera, everything is evaluated anew");
    return {};
  }
  const std::string rest = text.substr(std::min(text.size(), head(cache).size()));
  if (program::search::Memo().read(rest)) return rest;
  diagnostics.warn({file, 0, 0}, "damaged, everything is evaluated anew");
  return {};
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
      if (text.empty() && has_earlier_files(cache))
        diagnostics.warn({"--cache " + cache.folder, 0, 0},
                         "measured-*.txt are of an earlier version of Tessera and are passed over");
      if (!text.empty()) text = evaluations_of(cache, file, text, diagnostics);
      kept.can_be_written = true;
    } catch (const Error& error) {
      warn(cache, error.what(), diagnostics);
    }
  });
  static_cast<void>(kept.memo.read(broadcast(comm, text)));
  return kept;
}

void write_cache(const Cache& cache, const config::Table& resolved, const Kept& kept, Communicator& comm,
                 config::Diagnostics& diagnostics) {
  if (cache.folder.empty()) return;
  const std::vector<program::search::Known> added = joined(gather(comm, kept.memo.added()));
  together(comm, [&] {
    if (!kept.can_be_written || added.empty()) return;
    try {
      program::search::Memo whole = kept.memo;
      for (const program::search::Known& one : added) whole.learn(one.key, one.evaluation);
      results::write_text(path(cache, resolved), head(cache) + whole.text());
    } catch (const Error& error) {
      diagnostics.warn({"--cache " + cache.folder, 0, 0},
                       std::string(error.what()) + "; the next search evaluates all of it again");
    }
  });
}

}  // namespace tessera::experiment
