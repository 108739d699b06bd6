// From files to the text of an experiment: which format, what the format makes of them, what the request says besides.
#include "tessera/experiment/import.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "../tree.hpp"
#include "formats.hpp"
#include "tessera/base/error.hpp"
#include "tessera/base/text.hpp"

namespace tessera::experiment {
namespace importing {
namespace {

namespace fs = std::filesystem;

/// "trace.12.et" behind "trace.2.et": names are compared with their numbers as numbers.
bool comes_before(const std::string& a, const std::string& b) {
  const auto digits = [](const std::string& text, std::size_t at) {
    std::size_t end = at;
    while (end < text.size() && text[end] >= '0' && text[end] <= '9') ++end;
    return text.substr(at, end - at);
  };
  for (std::size_t i = 0, j = 0; i < a.size() && j < b.size();) {
    const std::string left = digits(a, i), right = digits(b, j);
    const bool are_numbers = !left.empty() && !right.empty();
    if (are_numbers && left != right) return left.size() != right.size() ? left.size() < right.size() : left < right;
    if (!are_numbers && a[i] != b[j]) return a[i] < b[j];
    i += are_numbers ? left.size() : 1;
    j += are_numbers ? right.size() : 1;
  }
  return a.size() != b.size() ? a.size() < b.size() : a < b;
}

/// What a folder stands for: its config.json, or else all traces in it.
std::vector<std::string> files_in(const fs::path& folder) {
  if (std::error_code ignored; fs::is_regular_file(folder / "config.json", ignored))
    return {(folder / "config.json").string()};
  std::vector<std::string> traces;
  std::error_code problem;
  for (const auto& entry : fs::directory_iterator(folder, problem))
    if (entry.path().extension() == ".et") traces.push_back(entry.path().string());
  if (problem) throw IoError("cannot read '" + one_line(folder.string()) + "': " + problem.message());
  if (traces.empty())
    throw InputError(one_line(folder.string()) + ": a folder without config.json and without traces (*.et)");
  return traces;
}

Sources read_all(const ImportRequest& request) {
  std::vector<std::string> paths;
  for (const std::string& path : request.files) {
    std::error_code ignored;
    const std::vector<std::string> found =
        fs::is_directory(path, ignored) ? files_in(path) : std::vector<std::string>{path};
    paths.insert(paths.end(), found.begin(), found.end());
  }
  std::ranges::sort(paths, comes_before);
  Sources files;
  for (const std::string& path : paths) {
    auto text = read_file(path);
    if (!text) throw InputError(one_line(path) + ": there is no such file");
    files.push_back({path, std::move(*text)});
  }
  return files;
}

std::vector<std::string> format_names() {
  std::vector<std::string> names;
  for (const ImportFormat& format : formats()) names.push_back(format.name);
  return names;
}

const ImportFormat& format_of(const ImportRequest& request, const Sources& files) {
  for (const ImportFormat& format : formats())
    if (request.format.empty() ? format.recognises(files) : format.name == request.format) return format;
  if (!request.format.empty())
    throw InputError("--format: " + config::unknown("format", request.format, format_names()));
  throw InputError(fmt::format("{}: of no format that is known, --format names one: {}", one_line(files.front().path),
                               config::listed(format_names())));
}

/// What the request says over what the files say.
void apply_request(const ImportRequest& request, Draft& draft, config::Diagnostics& diagnostics) {
  if (!request.recipe.empty()) put(draft, "recipe", request.recipe);
  for (const Setting& setting : request.settings) {
    config::Table root;
    apply(root, setting, diagnostics);
    const config::Table* table = &root;
    const std::vector<std::string> parts = parts_of(setting.key);
    for (std::size_t i = 0; i + 1 < parts.size(); ++i) table = table->find(parts[i])->table();
    const bool is_name = setting.key == "machine" || setting.key == "model";
    if (is_name) std::erase_if(draft.keys, [&](const DraftKey& key) { return key.key.starts_with(setting.key + "."); });
    const std::string key = is_name ? setting.key + ".include" : setting.key;
    if (key == "title")
      draft.title = setting.value;
    else
      put(draft, key, table->find(parts.back())->content(), "--set");
  }
}

/// What `tessera check` would refuse of the text warns: the keys fit the files, and something else does not fit.
void check_result(const std::string& text, const ImportRequest& request, config::Diagnostics& diagnostics) {
  const std::string name = request.output.empty() ? "the experiment" : request.output;
  config::Diagnostics own;
  InputFiles files;
  const Parts parts;
  auto table = config::parse_toml(text, name, own);
  if (own.ok()) inline_all(*table, {fs::path(request.output).parent_path(), request.folders, files}, own);
  if (own.ok()) {
    expand_machine(*table, own);
    name_untitled(*table, name);
    table = complete(*table, parts);
    auto attached = attach(*table, parts.strategies, files, own);
    if (own.ok()) static_cast<void>(build(*table, own, parts, std::move(attached), true));
  }
  for (const std::string& error : own.errors()) diagnostics.warn({}, "as it stands it is refused: " + error);
}

std::string names_of(const Sources& files) {
  const auto name = [](const SourceFile& file) { return fs::path(file.path).filename().string(); };
  if (files.size() > 4) return fmt::format("{} and {} more", name(files.front()), files.size() - 1);
  std::string text;
  for (const SourceFile& file : files) text += (text.empty() ? "" : ", ") + name(file);
  return text;
}

}  // namespace
}  // namespace importing

std::string import_experiment(const ImportRequest& request, config::Diagnostics& diagnostics) {
  const importing::Sources files = importing::read_all(request);
  const importing::ImportFormat& format = importing::format_of(request, files);
  importing::Draft draft;
  draft.remarks.push_back(
      fmt::format("Made by tessera import ({}) from {}.", format.name, one_line(importing::names_of(files))));
  format.read(request, files, draft, diagnostics);
  if (!diagnostics.ok()) return {};
  importing::apply_request(request, draft, diagnostics);
  const std::string text = importing::to_text(draft);
  importing::check_result(text, request, diagnostics);
  return text;
}

std::vector<Choice> import_formats() {
  std::vector<Choice> all;
  for (const importing::ImportFormat& format : importing::formats())
    all.push_back({"import format", format.name, format.help});
  return all;
}

}  // namespace tessera::experiment
