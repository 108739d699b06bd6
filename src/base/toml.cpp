// Reading TOML: the only place that knows the parser.
#include <toml++/toml.h>

#include <algorithm>
#include <exception>
#include <new>

#include "tessera/base/config.hpp"
#include "toml_levels.hpp"

namespace tessera::config {
namespace {

/// Turns the parser's tree into ours, with the file's order of keys back in place.
class Converter {
 public:
  Converter(const std::string& file, Diagnostics& diagnostics) : file_(file), diagnostics_(diagnostics) {}

  std::shared_ptr<Table> table(const toml::table& source) {
    auto result = std::make_shared<Table>(at(source.source()));
    std::vector<std::pair<const toml::key*, const toml::node*>> entries;
    for (const auto& [key, node] : source) entries.emplace_back(&key, &node);
    std::sort(entries.begin(), entries.end(), [](const auto& a, const auto& b) {
      const auto p = a.first->source().begin, q = b.first->source().begin;
      return std::tie(p.line, p.column) < std::tie(q.line, q.column);
    });
    for (const auto& [key, node] : entries) result->append(std::string(key->str()), value(*node, at(key->source())));
    return result;
  }

 private:
  Location at(const toml::source_region& region) const {
    return {file_, static_cast<int>(region.begin.line), static_cast<int>(region.begin.column)};
  }

  Value value(const toml::node& node, const Location& key) {
    const Location where = at(node.source());
    if (level_ == most_levels && (node.is_table() || node.is_array())) {
      diagnostics_.error(key, too_deep_message());
      return {false, where, key};
    }
    switch (node.type()) {
      case toml::node_type::table:
      case toml::node_type::array:
        return nested(node, where, key);
      case toml::node_type::string:
        return {**node.as_string(), where, key};
      case toml::node_type::integer:
        return {**node.as_integer(), where, key};
      case toml::node_type::floating_point:
        return {**node.as_floating_point(), where, key};
      case toml::node_type::boolean:
        return {**node.as_boolean(), where, key};
      default:
        break;
    }
    diagnostics_.error(where, "dates and times of day have no meaning here, durations are texts such as \"500 ns\"");
    return {false, where, key};
  }

  Value nested(const toml::node& node, const Location& where, const Location& key) {
    ++level_;
    Value result =
        node.is_table() ? Value(table(*node.as_table()), where, key) : Value(array(*node.as_array()), where, key);
    --level_;
    return result;
  }

  Array array(const toml::array& source) {
    Array result;
    for (const toml::node& node : source) result.push_back(value(node, at(node.source())));
    return result;
  }

  const std::string& file_;
  Diagnostics& diagnostics_;
  int level_ = 0;
};

}  // namespace

std::shared_ptr<Table> parse_toml(const std::string& text, const std::string& file, Diagnostics& diagnostics) {
  if (const auto where = too_deep(text, file)) {
    diagnostics.error(*where, too_deep_message());
    return std::make_shared<Table>(Location{file, 1, 1});
  }
  toml::table parsed;
  try {
    parsed = toml::parse(text, file);
  } catch (const toml::parse_error& error) {
    const auto position = error.source().begin;
    diagnostics.error({file, static_cast<int>(position.line), static_cast<int>(position.column)},
                      "not valid TOML: " + std::string(error.description()));
    return std::make_shared<Table>(Location{file, 1, 1});
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& error) {  // of the library below the parser
    diagnostics.error({file, 1, 1}, std::string("not valid TOML: ") + error.what());
    return std::make_shared<Table>(Location{file, 1, 1});
  }
  return Converter(file, diagnostics).table(parsed);
}

}  // namespace tessera::config
