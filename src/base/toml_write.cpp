// Printing tables as TOML, so that reading the text gives them back.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "tessera/base/config.hpp"
#include "toml_write.hpp"

namespace tessera::config {
namespace {

std::string quoted(const std::string& text) {
  std::string result = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      result += '\\';
      result += c;
    } else if (c == '\n') {
      result += "\\n";
    } else if (c == '\t') {
      result += "\\t";
    } else if (byte < 0x20 || byte == 0x7f) {
      result += fmt::format("\\u{:04X}", byte);
    } else {
      result += c;
    }
  }
  return result + '"';
}

std::string key_text(const std::string& key) {
  const auto is_bare = [](unsigned char c) { return std::isalnum(c) != 0 || c == '-' || c == '_'; };
  return !key.empty() && std::all_of(key.begin(), key.end(), is_bare) ? key : quoted(key);
}

std::string number_text(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  std::string text = fmt::format("{}", value);  // the shortest text that reads back as the same number
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text;
}

}  // namespace

std::string inline_text(const Value& value) {
  if (const auto* text = value.string()) return quoted(*text);
  if (const auto* flag = std::get_if<bool>(&value.content())) return *flag ? "true" : "false";
  if (const auto* whole = std::get_if<std::int64_t>(&value.content())) return std::to_string(*whole);
  if (const auto* number = std::get_if<double>(&value.content())) return number_text(*number);
  std::string result, separator;
  if (const Array* array = value.array()) {
    for (const Value& element : *array) result += std::exchange(separator, ", ") + inline_text(element);
    return "[" + result + "]";
  }
  for (const auto& [key, element] : value.table()->entries()) {
    result += std::exchange(separator, ", ") + key_text(key) + " = " + inline_text(element);
  }
  return result.empty() ? "{}" : "{ " + result + " }";
}

namespace {

/// Arrays that hold nothing but tables are written as [[key]] sections.
bool is_array_of_tables(const Value& value) {
  const Array* array = value.array();
  return array != nullptr && !array->empty() &&
         std::all_of(array->begin(), array->end(), [](const Value& element) { return element.table() != nullptr; });
}

void write_table(const Table& table, const std::string& prefix, std::string& out) {
  for (const auto& [key, value] : table.entries()) {
    if (value.table() == nullptr && !is_array_of_tables(value))
      out += key_text(key) + " = " + inline_text(value) + '\n';
  }
  for (const auto& [key, value] : table.entries()) {
    const std::string path = prefix.empty() ? key_text(key) : prefix + '.' + key_text(key);
    const std::string gap = out.empty() ? "" : "\n";
    if (const Table* nested = value.table()) {
      out += gap + '[' + path + "]\n";
      write_table(*nested, path, out);
    } else if (is_array_of_tables(value)) {
      for (const Value& element : *value.array()) {
        out += (out.empty() ? "[[" : "\n[[") + path + "]]\n";
        write_table(*element.table(), path, out);
      }
    }
  }
}

}  // namespace

std::string to_toml(const Table& table) {
  std::string out;
  write_table(table, "", out);
  return out;
}

}  // namespace tessera::config
