// What an experiment can name, and what that is in a line.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "calibration.hpp"
#include "tessera/base/error.hpp"
#include "tessera/base/text.hpp"
#include "tessera/machine/topology.hpp"
#include "tessera/workload/graph_file.hpp"
#include "tessera/workload/network.hpp"
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

/// ", 8 hosts of 2.00 TB": by kind.
std::string hosts_of(const machine::Machine& machine) {
  std::string text;
  for (std::uint32_t kind = 0; kind < machine.host_kinds.size(); ++kind) {
    const auto count = std::ranges::count(machine.kind_of_host, kind);
    text += fmt::format(", {} {}{} of {}", count, machine.host_kinds[kind].name, count == 1 ? "" : "s",
                        config::format_rounded(machine.host_kinds[kind].memory_capacity));
  }
  return text;
}

std::string of_machine(const Table& table, Diagnostics& diagnostics) {
  const machine::Machine machine = machine::build_machine(table, diagnostics);
  return fmt::format("{} of {}, {}, {}, {} at {}{}", machine.topology, machine.accelerators(), machine.device.name,
                     peak(machine.device), config::format_rounded(machine.device.memory_capacity),
                     config::format_rounded(machine.device.memory_bandwidth), hosts_of(machine));
}

/// 175 G, 345 M: three digits and a power of 1000.
std::string rounded(std::int64_t count) {
  std::string text = config::format_rounded(count, config::Unit::bytes);  // "175 GB"
  if (text.ends_with('B')) text.pop_back();
  while (text.ends_with(' ')) text.pop_back();
  return text;
}

std::string of_graph(const workload::Graph& graph) {
  return fmt::format("{} parameters, {} operators, {}", rounded(graph.parameters()), graph.nodes.size(), graph.name);
}

std::string of_model(const Table& table, Diagnostics& diagnostics) {
  if (const config::Value* graph = table.find("graph"); graph != nullptr && graph->table() != nullptr)
    return of_graph(workload::read_graph(*graph->table(), diagnostics));
  const workload::Model model = workload::read_model(table, diagnostics);
  if (!diagnostics.ok()) return {};
  std::string text = fmt::format("{} parameters, {} layers, hidden {}, {} heads",
                                 rounded(workload::parameter_count(model)), model.layers, model.hidden, model.heads);
  std::int64_t experts = 0;
  for (std::uint32_t kind = 0; kind < layer_kinds(model); ++kind)
    experts = std::max(experts, layer_kind(model, kind).experts);
  if (experts > 0) text += fmt::format(", {} experts", experts);
  if (has_vision(model)) text += ", a vision tower";
  if (const std::string ends = without_vocabulary(model); !ends.empty()) text += ", " + ends;
  return text + ", " + model.name;
}

Listed describe_recipe(const std::string& name, const SearchPath& search) {
  Diagnostics diagnostics;
  const auto recipe = read_recipe({name, {}}, search, diagnostics);
  if (recipe == nullptr) return {name, one_line("cannot be used: " + diagnostics.errors().front()), {}};
  return {name, one_line(recipe_schema().read(*recipe, diagnostics).source), {}};
}

/// What is said of a machine or a model; calibrated: of a machine (Listed).
struct Said {
  std::string description, calibrated;
};

/// A name is found and read as an experiment finds and reads it.
Said describe_machine(const std::string& name, const SearchPath& search, Diagnostics& diagnostics) {
  Table root;
  root.set("machine", {name, {}});
  inline_machine(root, search, diagnostics);
  if (!diagnostics.ok() || root.find("machine") == nullptr) return {};
  const auto completed = complete(root, {});
  const Table& machine = *completed->find("machine")->table();
  return {of_machine(machine, diagnostics), calibrated_parts(machine)};
}

/// A network is counted as it is: the table of all nodes that stands for it in an experiment takes most of the time.
Said describe_model(const std::string& name, const SearchPath& search, Diagnostics& diagnostics) {
  const config::Value value{name, {}};
  if (const auto table = model_with_files(value, search, diagnostics); table != nullptr && workload::is_network(*table))
    return {of_graph(workload::read_network(*table, diagnostics)), {}};
  Table root;
  root.set("model", value);
  if (diagnostics.ok()) inline_model(root, search, diagnostics);
  if (!diagnostics.ok() || root.find("model") == nullptr) return {};
  return {of_model(*complete(root, {})->find("model")->table(), diagnostics), {}};
}

/// One that cannot be used says why.
template <class Describe>
Listed described(const std::string& name, const SearchPath& search, Describe describe) {
  Listed listed{name, {}, {}};
  Diagnostics diagnostics;
  try {
    const Said said = describe(name, search, diagnostics);
    listed = {name, said.description, said.calibrated};
    if (!diagnostics.ok()) listed = {name, "cannot be used: " + diagnostics.errors().front(), {}};
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
    for (const fs::path& file : files) all.push_back({file.lexically_normal().string(), title_of(file), {}});
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
    all.push_back(described(name, search, machines ? describe_machine : describe_model));
  }
  return all;
}

}  // namespace tessera::experiment
