#include "tessera/workload/json_table.hpp"

#include <fmt/format.h>

#include <limits>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>
#include <vector>

#include "../json_keys.hpp"

namespace tessera::workload {
namespace {

/// Takes what the parser meets, in the order of the text.
class TableBuilder : public nlohmann::json_sax<nlohmann::json> {
 public:
  TableBuilder(const std::string& text, std::string file, const JsonRules& rules, config::Diagnostics& diagnostics)
      : places_(text), text_(text), file_(std::move(file)), rules_(rules), diagnostics_(diagnostics) {}

  [[nodiscard]] std::shared_ptr<config::Table> root() const { return root_; }

  bool null() override {
    const config::Location where = next();
    if (levels_.empty()) return no_object(where);
    if (levels_.back().table == nullptr && !rules_.drops_nulls)
      diagnostics_.error(where, "null is not allowed in a list");
    return true;
  }
  bool boolean(bool value) override { return put({value, next()}); }
  bool number_integer(std::int64_t value) override { return put({value, next()}); }
  /// Beyond what is counted with it is no whole number any more, and so refused where one is expected.
  bool number_unsigned(std::uint64_t value) override {
    const config::Location where = next();
    if (value > std::numeric_limits<std::int64_t>::max()) return put({static_cast<double>(value), where});
    return put({static_cast<std::int64_t>(value), where});
  }
  bool number_float(double value, const std::string&) override { return put({value, next()}); }
  bool string(std::string& value) override { return put({value, next()}); }
  bool binary(nlohmann::json::binary_t&) override { return true; }  // JSON has none

  bool start_object(std::size_t) override {
    const config::Location where = next();
    levels_.push_back({std::make_shared<config::Table>(where), {}, where, {}, {}, {}});
    return true;
  }
  bool key(std::string& name) override {
    Level& level = levels_.back();
    level.key = name;
    level.key_where = next();
    if (!level.keys.insert(name).second)
      diagnostics_.error(level.key_where, fmt::format("\"{}\" is there twice", name));
    return true;
  }
  bool end_object() override {
    const Level level = std::move(levels_.back());
    levels_.pop_back();
    if (levels_.empty()) root_ = level.table;
    return levels_.empty() || put({level.table, level.where});
  }
  bool start_array(std::size_t) override {
    levels_.push_back({nullptr, {}, next(), {}, {}, {}});
    return levels_.size() > 1 || no_object(levels_.back().where);
  }
  bool end_array() override {
    Level level = std::move(levels_.back());
    levels_.pop_back();
    return put({std::move(level.list), level.where});
  }

  bool parse_error(std::size_t bytes, const std::string& token, const nlohmann::detail::exception& error) override {
    const JsonProblem problem = problem_of_parser(text_, bytes, token, error);
    diagnostics_.error({file_, problem.at.line, problem.at.column}, problem.what);
    return false;
  }

 private:
  /// An object or a list that is not closed yet.
  struct Level {
    std::shared_ptr<config::Table> table;  ///< null: a list
    config::Array list;
    config::Location where;
    std::string key;  ///< the last one
    config::Location key_where;
    std::set<std::string> keys;
  };

  config::Location next() {
    const KeyPosition at = places_.next();
    return {file_, at.line, at.column};
  }
  bool no_object(const config::Location& where) {
    diagnostics_.error(where, "invalid JSON, expected " + rules_.expected);
    return false;
  }
  bool put(const config::Value& value) {
    if (levels_.empty()) return no_object(value.where());
    Level& level = levels_.back();
    if (level.table == nullptr)
      level.list.push_back(value);
    else
      level.table->set(level.key, {value.content(), value.where(), level.key_where});
    return true;
  }

  JsonPlaces places_;
  const std::string& text_;
  std::string file_;
  const JsonRules& rules_;
  config::Diagnostics& diagnostics_;
  std::vector<Level> levels_;
  std::shared_ptr<config::Table> root_;
};

}  // namespace

std::shared_ptr<config::Table> parse_json(const std::string& text, const std::string& file, const JsonRules& rules,
                                          config::Diagnostics& diagnostics) {
  if (const auto deep = too_deep(text, config::most_levels)) {
    diagnostics.error({file, deep->line, deep->column},
                      fmt::format("more than {} levels of objects and arrays within each other", config::most_levels));
    return nullptr;
  }
  TableBuilder builder(text, file, rules, diagnostics);
  return nlohmann::json::sax_parse(text, &builder) ? builder.root() : nullptr;
}

}  // namespace tessera::workload
