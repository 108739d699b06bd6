#include "differences.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace tessera::experiment {
namespace {

using config::Table;
using config::Value;

constexpr std::size_t most_named = 8, longest_value = 40;

/// On one line.
std::string value_text(const Value& value) {
  Table alone;
  alone.set("k", value);
  std::string text = config::to_toml(alone);
  while (text.ends_with('\n')) text.pop_back();
  constexpr std::size_t before = 4;  // "k = "
  if (text.find('\n') != std::string::npos || text.size() < before) return "a list of tables";
  return text.substr(before);
}

std::string shortened(const std::string& text) {
  if (text.empty()) return "(not given)";
  return text.size() <= longest_value ? text : text.substr(0, longest_value - 3) + "...";
}

/// What only one of the two has, or has as a table.
void add_alone(const Value& value, const std::string& key, bool is_new, std::vector<Difference>& found) {
  if (const Table* table = value.table(); table != nullptr) {
    for (const auto& [inner, one] : table->entries()) add_alone(one, key + "." + inner, is_new, found);
    return;
  }
  const std::string text = value_text(value);
  found.push_back({key, is_new ? "" : text, is_new ? text : ""});
}

}  // namespace

std::vector<Difference> differences(const Table& was, const Table& is, const std::string& path) {
  std::vector<Difference> found;
  const auto add = [&](const std::vector<Difference>& more) { found.insert(found.end(), more.begin(), more.end()); };
  for (const auto& [key, value] : is.entries()) {
    const Value* before = was.find(key);
    const std::string whole = path + "." + key;
    if (before == nullptr) {
      add_alone(value, whole, true, found);
    } else if (before->table() != nullptr && value.table() != nullptr) {
      add(differences(*before->table(), *value.table(), whole));
    } else if (before->table() != nullptr || value.table() != nullptr) {
      add_alone(*before, whole, false, found);
      add_alone(value, whole, true, found);
    } else if (value_text(*before) != value_text(value)) {
      found.push_back({whole, value_text(*before), value_text(value)});
    }
  }
  for (const auto& [key, value] : was.entries())
    if (is.find(key) == nullptr) add_alone(value, path + "." + key, false, found);
  return found;
}

std::string text_of(const std::vector<Difference>& differences) {
  std::vector<std::string> named;
  for (const Difference& one : differences) {
    if (named.size() == most_named) break;
    named.push_back(fmt::format("{} {} -> {}", one.key, shortened(one.was), shortened(one.is)));
  }
  const std::size_t more = differences.size() - named.size();
  return fmt::format("{}{}", fmt::join(named, ", "), more == 0 ? "" : fmt::format(" and {} more", more));
}

}  // namespace tessera::experiment
