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

std::string path(const Cache& cache, const std::string& what, const std::string& hashed) {
  return (std::filesystem::path(cache.folder) / fmt::format("{}-{:016x}", what, hash_of(hashed))).string();
}

std::string path(const Cache& cache, const config::Table& resolved) {
  return path(cache, "evaluated", fingerprint(resolved, "machine") + " " + fingerprint(resolved, "cost"));
}

/// One file a device, whatever machine it is part of.
std::string path_of_costs(const Cache& cache, const config::Table& resolved) {
  const config::Value* machine = resolved.find("machine");
  const bool is_table = machine != nullptr && machine->table() != nullptr;
  return path(cache, "operators", is_table ? fingerprint(*machine->table(), "device") : "");
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

KeptCosts read_costs(const Cache& cache, const config::Table& resolved, Communicator& comm,
                     config::Diagnostics& diagnostics) {
  KeptCosts costs;
  if (cache.folder.empty()) return costs;
  costs.file = path_of_costs(cache, resolved);
  together(comm, [&] {
    if (comm.rank() != 0) return;
    try {
      const std::string text = read_file(costs.file).value_or("");
      // One of another version is passed over without a word: nobody changed it.
      if (text.starts_with(head(cache))) costs.text = text.substr(head(cache).size());
      if (costs.text.empty() && !text.starts_with("# Tessera ")) costs.text = text;
    } catch (const Error& error) {
      diagnostics.warn({"--cache " + cache.folder, 0, 0}, std::string(error.what()) + "; the run goes on without it");
    }
  });
  costs.text = broadcast(comm, costs.text);
  return costs;
}

void write_costs(const Cache& cache, const config::Table& resolved, workload::CostModel& cost, Communicator& comm,
                 config::Diagnostics& diagnostics) {
  if (cache.folder.empty()) return;
  const std::vector<std::string> news = gather(comm, cost.worked_out(true));
  together(comm, [&] {
    if (std::ranges::all_of(news, &std::string::empty)) return;
    try {
      for (const std::string& one : news) static_cast<void>(cost.learn(one));
      std::filesystem::create_directories(cache.folder);
      results::write_text(path_of_costs(cache, resolved), head(cache) + cost.worked_out(false));
    } catch (const std::exception& error) {
      diagnostics.warn({"--cache " + cache.folder, 0, 0},
                       std::string(error.what()) + "; the next run works out all of it again");
    }
  });
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
