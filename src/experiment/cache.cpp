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
  const std::string all =
      fmt::format("{} {} {}", cache.version, fingerprint(resolved, "machine"), fingerprint(resolved, "cost"));
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

program::search::Memo merged(const std::vector<std::string>& parts) {
  program::search::Memo whole;
  for (const std::string& part : parts) static_cast<void>(whole.read(part));
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
      if (!text.empty() && !program::search::Memo().read(text))
        diagnostics.warn({file, 0, 0}, "damaged, everything is evaluated anew");
      if (text.empty() && has_earlier_files(cache))
        diagnostics.warn({"--cache " + cache.folder, 0, 0},
                         "measured-*.txt are of an earlier version of Tessera and are passed over");
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
  if (cache.folder.empty() || comm.max(kept.memo.is_new() ? 1 : 0) == 0) return;
  const std::vector<std::string> all = gather(comm, kept.memo.text());
  together(comm, [&] {
    if (!kept.can_be_written) return;
    try {
      results::write_text(path(cache, resolved), merged(all).text());
    } catch (const Error& error) {
      diagnostics.warn({"--cache " + cache.folder, 0, 0},
                       std::string(error.what()) + "; the next search evaluates all of it again");
    }
  });
}

}  // namespace tessera::experiment
