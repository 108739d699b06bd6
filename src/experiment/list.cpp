// What an experiment can name, and what that is in a line.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "tessera/base/error.hpp"
#include "tessera/base/text.hpp"
#include "tessera/machine/topology.hpp"
#include "tessera/workload/graph_file.hpp"
#include "tree.hpp"

namespace tessera::experiment {
namespace {

namespace fs = std::filesystem;
using config::Diagnostics;
using config::Table;

std::string peak(const machine::DeviceSpec& device) {
  for (const char* datatype : {"bf16", "fp16", "fp32"}) {
    const auto found = device.peak.find(datatype);
    if (found == device.peak.end()) continue;
    return config::format_rounded(found->second) + ' ' + datatype;
  }
  if (device.peak.empty()) return "no peak";
  const auto& [datatype, rate] = *device.peak.begin();
  return config::format_rounded(rate) + ' ' + datatype;
}

std::string of_machine(const Table& table, Diagnostics& diagnostics) {
  const machine::Machine machine = machine::build_machine(table, diagnostics);
  return fmt::format("{} of {}, {}, {}, {} at {}", machine.topology, machine.devices(), machine.device.name,
                     peak(machine.device), config::format_rounded(machine.device.memory_capacity),
                     config::format_rounded(machine.device.memory_bandwidth));
}

/// 175 G, 345 M: three digits and a power of 1000.
std::string rounded(std::int64_t count) {
  std::string text = config::format_rounded(count, config::Unit::bytes);  // "175 GB"
  if (text.ends_with('B')) text.pop_back();
  while (text.ends_with(' ')) text.pop_back();
  return text;
}

std::string of_model(const Table& table, Diagnostics& diagnostics) {
  if (const config::Value* graph = table.find("graph"); graph != nullptr && graph->table() != nullptr) {
    const workload::Graph read = workload::read_graph(*graph->table(), diagnostics);
    return fmt::format("{} parameters, {} operators, {}", rounded(read.parameters()), read.nodes.size(), read.name);
  }
  const workload::Model model = workload::read_model(table, diagnostics);
  if (!diagnostics.ok()) return {};
  std::string text = fmt::format("{} parameters, {} layers, hidden {}, {} heads",
                                 rounded(workload::parameter_count(model)), model.layers, model.hidden, model.heads);
  if (model.experts > 0) text += fmt::format(", {} experts", model.experts);
  return text + ", " + model.name;
}

Listed describe_recipe(const std::string& name, const SearchPath& search) {
  Diagnostics diagnostics;
  const auto recipe = read_recipe({name, {}}, search, diagnostics);
  if (recipe == nullptr) return {name, one_line("cannot be used: " + diagnostics.errors().front())};
  return {name, one_line(recipe_schema().read(*recipe, diagnostics).source)};
}

using Describe = std::string (*)(const Table&, Diagnostics&);
using Inline = void (*)(Table&, const SearchPath&, Diagnostics&);

/// A name is found and read as an experiment finds and reads it; one that cannot be used says why.
Listed describe(const std::string& key, const std::string& name, const SearchPath& search, Inline put_in,
                Describe in_words) {
  Listed listed{name, {}};
  Diagnostics diagnostics;
  try {
    Table root;
    root.set(key, {name, {}});
    put_in(root, search, diagnostics);
    const config::Value* value = root.find(key);
    if (diagnostics.ok() && value != nullptr)
      listed.description = in_words(*complete(root, {})->find(key)->table(), diagnostics);
    if (!diagnostics.ok()) listed.description = "cannot be used: " + diagnostics.errors().front();
  } catch (const Error& error) {
    listed.description = std::string("cannot be used: ") + error.what();
  }
  listed.description = one_line(listed.description);
  return listed;
}

std::string title_of(const fs::path& file) {
  try {
    Diagnostics diagnostics;
    const auto table = config::parse_toml(read_file(file).value_or(""), file.string(), diagnostics);
    if (!diagnostics.ok()) return one_line("cannot be used: " + diagnostics.errors().front());
    const config::Value* title = table->find("title");
    return title != nullptr && title->string() != nullptr ? one_line(*title->string()) : "";
  } catch (const Error& error) {
    return std::string("cannot be used: ") + error.what();
  }
}

/// The TOML files below this part of each folder, by path and title.
std::vector<Listed> titled(const std::vector<fs::path>& folders, const char* part) {
  std::vector<Listed> all;
  for (const fs::path& folder : folders) {
    std::error_code ignored;
    std::vector<fs::path> files;
    for (const auto& entry : fs::recursive_directory_iterator(folder / part, ignored)) {
      if (entry.path().extension() == ".toml") files.push_back(entry.path());
    }
    std::sort(files.begin(), files.end());
    for (const fs::path& file : files) all.push_back({file.lexically_normal().string(), title_of(file)});
  }
  return all;
}

}  // namespace

std::vector<Listed> list(Listing what, const std::vector<fs::path>& folders) {
  if (what == Listing::experiments) return titled(folders, "experiments");
  if (what == Listing::sweeps) return titled(folders, "sweeps");
  InputFiles files;
  const SearchPath search{"", folders, files, false};
  const bool machines = what == Listing::machines;
  std::vector<Listed> all;
  if (what == Listing::recipes) {
    for (const std::string& name : recipe_names(search)) all.push_back(describe_recipe(name, search));
    return all;
  }
  for (const std::string& name : machines ? machine_names(search) : model_names(search)) {
    all.push_back(machines ? describe("machine", name, search, inline_machine, of_machine)
                           : describe("model", name, search, inline_model, of_model));
  }
  return all;
}

}  // namespace tessera::experiment
