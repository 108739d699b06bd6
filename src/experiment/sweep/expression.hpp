// Arithmetic over the keys of an experiment: the `set` and `where` of a sweep.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tessera/base/config.hpp"

namespace tessera::experiment::sweep {

/// Numbers, keys with dots as variables, + - * / ^, comparisons, `and`, `or`, `c ? a : b`, min, max, ceil, floor, log2
/// and the other functions of muParser.
class Expression {
 public:
  /// Null, and what is wrong is reported with its column: it does not parse.
  [[nodiscard]] static std::unique_ptr<Expression> parse(const std::string& text, const config::Location& where,
                                                         config::Diagnostics& diagnostics);
  ~Expression();
  Expression(const Expression&) = delete;
  Expression& operator=(const Expression&) = delete;

  /// The names in it, sorted.
  [[nodiscard]] const std::vector<std::string>& variables() const { return variables_; }
  /// For values in the order of variables().
  [[nodiscard]] double evaluate(std::span<const double> values) const;
  [[nodiscard]] const std::string& text() const { return text_; }
  [[nodiscard]] const config::Location& where() const { return where_; }

 private:
  struct Parser;
  Expression(std::string text, config::Location where);

  std::string text_;
  config::Location where_;
  std::vector<std::string> variables_;
  std::unique_ptr<Parser> parser_;
};

}  // namespace tessera::experiment::sweep
