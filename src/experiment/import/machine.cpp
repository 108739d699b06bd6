#include "machine.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "../tree.hpp"

namespace tessera::experiment::importing {
namespace {

bool is_word_character(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; }

/// Whether `word` stands in the text by itself, in whatever case: "h100" in "--machine=H100_SXM".
bool has_whole_word(std::string_view text, std::string_view word) {
  const auto same = [](char a, char b) {
    return std::tolower(static_cast<unsigned char>(a)) == std::tolower(static_cast<unsigned char>(b));
  };
  for (auto at = text.begin();; ++at) {
    at = std::search(at, text.end(), word.begin(), word.end(), same);
    if (at == text.end()) return false;
    const auto end = at + static_cast<std::ptrdiff_t>(word.size());
    const bool begins = at == text.begin() || !is_word_character(at[-1]);
    if (begins && (end == text.end() || !is_word_character(*end))) return true;
  }
}

/// "a100" of "a100-80g-cluster"; empty where the name begins with no name of a device.
std::string device_of(const std::string& machine) {
  const std::string word = machine.substr(0, machine.find('-'));
  const bool has_digit = std::ranges::any_of(word, [](unsigned char c) { return std::isdigit(c) != 0; });
  return has_digit && machine.ends_with("-cluster") ? word : "";
}

/// Stock clusters whose device the files name.
std::vector<std::string> hinted(const std::vector<std::string>& known, const Sources& files) {
  std::vector<std::string> names;
  for (const std::string& machine : known) {
    const std::string device = device_of(machine);
    const auto says_so = [&](const SourceFile& file) {
      return has_whole_word(file.path, device) || has_whole_word(file.text, device);
    };
    if (!device.empty() && std::ranges::any_of(files, says_so)) names.push_back(machine);
  }
  return names;
}

/// By name, as an experiment finds and reads it; nameless after an error.
ChosenMachine look_up(const std::string& name, const SearchPath& search, config::Diagnostics& diagnostics) {
  config::Table root;
  root.set("machine", {name, {"--machine", 0, 0}});
  config::Diagnostics own;
  inline_machine(root, search, own);
  expand_machine(root, own);
  diagnostics.add(own);
  if (!own.ok() || root.find("machine") == nullptr) return {};
  const auto whole_table = complete(root, {});
  const machine::Machine built = machine::build_machine(*whole_table->find("machine")->table(), diagnostics);
  const std::int64_t each = built.topology == "cluster" ? built.devices_per_node : 0;
  return {name, built.topology, each, static_cast<std::int64_t>(built.accelerators()),
          built.device.usable_memory().value()};
}

void put_size(const ImportRequest& request, const SourceSize& size, ChosenMachine& machine, Draft& draft,
              config::Diagnostics& diagnostics) {
  if (machine.devices_per_node == 0) {
    if (request.nodes > 0) diagnostics.error({"--nodes", 0, 0}, fmt::format("machine {} has no nodes", machine.name));
    return;
  }
  const std::int64_t each = size.devices_per_node > 0 ? size.devices_per_node : machine.devices_per_node;
  std::int64_t nodes = request.nodes > 0 ? request.nodes : size.nodes;
  if (nodes == 0 && size.devices > 0) nodes = (size.devices + each - 1) / each;
  if (nodes == 0) nodes = std::max<std::int64_t>(1, machine.devices / machine.devices_per_node);
  put(draft, "machine.topology.nodes", nodes);
  if (each != machine.devices_per_node) put(draft, "machine.topology.gpus_per_node", each);
  machine.devices_per_node = each;
  machine.devices = nodes * each;
}

}  // namespace

ChosenMachine choose_machine(const ImportRequest& request, const Sources& files, const SourceSize& size, Draft& draft,
                             config::Diagnostics& diagnostics) {
  InputFiles read;
  const SearchPath search{"", request.folders, read};
  const std::vector<std::string> known = machine_names(search);
  std::string name = request.machine, note;
  if (name.empty()) {
    const std::vector<std::string> candidates = hinted(known, files);
    if (candidates.size() != 1) {
      const std::string found =
          candidates.empty() ? "the files name none" : "the files hint at " + config::listed(candidates);
      diagnostics.error({files.front().path, 1, 1},
                        fmt::format("which machine? {}: --machine NAME, known: {}", found, config::listed(known)));
      return {};
    }
    name = candidates.front();
    note = "the files name this device";
  }
  ChosenMachine machine = look_up(name, search, diagnostics);
  if (machine.name.empty()) return machine;
  put(draft, "machine.include", name, note);
  put_size(request, size, machine, draft, diagnostics);
  return machine;
}

}  // namespace tessera::experiment::importing
