// Values given on the command line.
#include <algorithm>

#include "tessera/base/error.hpp"
#include "tessera/base/text.hpp"
#include "tessera/base/utf8.hpp"
#include "tessera/experiment/experiment.hpp"

#include "tree.hpp"

namespace tessera::experiment {

namespace {

bool has_holes(const std::string& key) {
  return key.empty() || key.front() == '.' || key.back() == '.' || key.find("..") != std::string::npos;
}

bool is_too_deep(const std::string& key) { return std::count(key.begin(), key.end(), '.') >= config::most_levels; }

}  // namespace

bool is_key(const std::string& text) { return !has_holes(text) && !is_too_deep(text); }

Setting parse_setting(const std::string& text) {
  const std::size_t equals = text.find('=');
  const std::string key = text.substr(0, equals);
  if (equals == std::string::npos || has_holes(key)) {
    throw InputError("--set " + one_line(text) + ": expected KEY=VALUE such as strategy.tensor=8");
  }
  if (!is_utf8(text)) throw InputError("--set " + one_line(text) + ": not UTF-8");
  if (is_too_deep(key)) {
    throw InputError("--set " + one_line(key) + ": a key of more than " + std::to_string(config::most_levels) +
                     " parts, allowed: " + std::to_string(config::most_levels));
  }
  return {key, text.substr(equals + 1), "--set " + key};
}

std::vector<std::string> parts_of(const std::string& key) {
  std::vector<std::string> parts;
  for (std::size_t begin = 0; begin <= key.size();) {
    const std::size_t end = std::min(key.find('.', begin), key.size());
    parts.push_back(key.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

namespace {

/// TOML where the text is TOML: 8, true, [1, 2], "text", { a = 1 }; otherwise the text itself, so that shells need no
/// second quotes.
config::Value parse_value(const std::string& text, const config::Location& where) {
  config::Diagnostics ignored;
  const auto parsed = config::parse_toml("value = " + text, where.file, ignored);
  const config::Value* value = parsed->find("value");
  if (ignored.ok() && value != nullptr && parsed->entries().size() == 1) return config::relocated(*value, where);
  return {text, where};
}

}  // namespace

void put(config::Table& root, const std::string& key, config::Value value, config::Diagnostics& diagnostics) {
  const config::Location where = value.where();
  const std::vector<std::string> parts = parts_of(key);
  config::Table* table = &root;
  std::string path;
  for (std::size_t i = 0; i + 1 < parts.size(); ++i) {
    path += (i == 0 ? "" : ".") + parts[i];
    config::Value* present = table->find(parts[i]);
    if (present == nullptr) {
      table->set(parts[i], {std::make_shared<config::Table>(where), where});
    } else if (const std::string* name = present->string(); name != nullptr && i == 0 && is_included(parts[i])) {
      // machine = "name" becomes [machine] include = "name", so that single values of it can be set.
      auto including = std::make_shared<config::Table>(present->where());
      including->set("include", {*name, present->where(), present->key_where()});
      table->set(parts[i], {std::move(including), present->where(), present->key_where()});
    } else if (present->table() == nullptr) {
      diagnostics.error(where, "\"" + path + "\" is " + present->type_name() + ", only the keys of tables can be set");
      return;
    }
    table = table->find(parts[i])->table();
  }
  table->set(parts.back(), std::move(value));
}

void apply(config::Table& root, const Setting& setting, config::Diagnostics& diagnostics) {
  put(root, setting.key, parse_value(setting.value, {setting.origin, 0, 0}), diagnostics);
}

}  // namespace tessera::experiment
