// Files of another tool in a folder, and the experiment that they make.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "files.hpp"
#include "support/source_folder.hpp"
#include "tessera/experiment/import.hpp"

namespace tessera::test {

using Named = std::vector<std::pair<std::string, std::string>>;

struct Imported {
  std::string text;
  std::vector<std::string> errors, warnings;  ///< without the folder's path
  std::shared_ptr<config::Table> table;       ///< resolved; null after an error
  std::unique_ptr<experiment::Experiment> built;
  /// "strategy.tensor" as TOML; empty where it is not there.
  [[nodiscard]] std::string value(const std::string& key) const {
    const config::Table* at = table.get();
    std::size_t begin = 0;
    for (std::size_t dot = key.find('.'); dot != std::string::npos && at != nullptr; dot = key.find('.', begin)) {
      const config::Value* next = at->find(key.substr(begin, dot - begin));
      at = next == nullptr ? nullptr : next->table();
      begin = dot + 1;
    }
    const config::Value* found = at == nullptr ? nullptr : at->find(key.substr(begin));
    if (found == nullptr) return {};
    config::Table one;
    one.set("x", *found);
    std::string line = config::to_toml(one).substr(4);
    while (line.ends_with('\n')) line.pop_back();
    return line;
  }
};

/// Imports the files, and loads and builds what comes out where nothing was wrong. `request.files` are their names.
inline Imported imported(const Named& files, experiment::ImportRequest request) {
  const Folder folder;
  request.folders = {source_folder() + "/inputs"};
  request.files.clear();
  for (const auto& [name, text] : files) {
    folder.write(name, text);
    request.files.push_back(folder.path(name));
  }
  Imported result;
  config::Diagnostics diagnostics;
  request.output = folder.path("made.toml");
  result.text = experiment::import_experiment(request, diagnostics);
  if (diagnostics.ok()) {
    folder.write("made.toml", result.text);
    config::Diagnostics own;
    auto source = experiment::load(folder.path("made.toml"), {}, request.folders, own);
    result.table = source.table;
    if (own.ok()) result.built = experiment::build(*source.table, own, {}, std::move(source.files));
    diagnostics.add(own);
  }
  const std::string prefix = folder.path("");
  const auto shortened = [&](std::vector<std::string> lines) {
    for (std::string& line : lines)
      for (std::size_t at = line.find(prefix); at != std::string::npos; at = line.find(prefix))
        line.erase(at, prefix.size());
    return lines;
  };
  result.errors = shortened(diagnostics.errors());
  result.warnings = shortened(diagnostics.warnings());
  return result;
}

inline experiment::ImportRequest on(const std::string& machine) {
  experiment::ImportRequest request;
  request.machine = machine;
  return request;
}

}  // namespace tessera::test
