#include "expression.hpp"

#include <fmt/format.h>
#include <muParser.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "tessera/base/text.hpp"

namespace tessera::experiment::sweep {
namespace {

// Keys have dots; `and` is an operator made of letters.
constexpr const char* of_names = "0123456789_.abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
constexpr const char* of_operators = "+-*^/?<>=#!$%&|~'_abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";

mu::value_type both(mu::value_type a, mu::value_type b) { return a != 0 && b != 0 ? 1 : 0; }
mu::value_type either(mu::value_type a, mu::value_type b) { return a != 0 || b != 0 ? 1 : 0; }
mu::value_type up(mu::value_type a) { return std::ceil(a); }
mu::value_type down(mu::value_type a) { return std::floor(a); }

/// The place of a "=" that compares nothing. muParser would assign, and a key of an experiment is not to change.
std::optional<std::size_t> assignment_in(const std::string& text) {
  for (std::size_t i = text.find('='); i != std::string::npos; i = text.find('=', i + 1)) {
    if (i + 1 < text.size() && text[i + 1] == '=') {
      ++i;
    } else if (i == 0 || std::string_view("<>!").find(text[i - 1]) == std::string_view::npos) {
      return i;
    }
  }
  return std::nullopt;
}

}  // namespace

struct Expression::Parser {
  mu::Parser parser;
  std::vector<double> values;
};

Expression::Expression(std::string text, config::Location where)
    : text_(std::move(text)), where_(std::move(where)), parser_(std::make_unique<Parser>()) {
  mu::Parser& parser = parser_->parser;
  parser.DefineNameChars(of_names);
  parser.DefineOprtChars(of_operators);
  parser.DefineOprt("and", both, mu::prLAND);
  parser.DefineOprt("or", either, mu::prLOR);
  parser.DefineFun("ceil", up);
  parser.DefineFun("floor", down);
  parser.SetExpr(text_);
  for (const auto& [name, ignored] : parser.GetUsedVar()) variables_.push_back(name);
  parser_->values.assign(variables_.size(), 1);
  for (std::size_t i = 0; i < variables_.size(); ++i) parser.DefineVar(variables_[i], &parser_->values[i]);
  static_cast<void>(parser.Eval());
}

Expression::~Expression() = default;

std::unique_ptr<Expression> Expression::parse(const std::string& text, const config::Location& where,
                                              config::Diagnostics& diagnostics) {
  // Behind the quote that the text begins with; of a text of several lines the place is that of its beginning.
  const auto place = [&](std::size_t at) {
    const bool is_on_line = where.line > 0 && text.find('\n') == std::string::npos;
    return is_on_line ? config::Location{where.file, where.line, where.column + 1 + static_cast<int>(at)} : where;
  };
  if (const auto at = assignment_in(text)) {
    diagnostics.error(place(*at), "\"=\" assigns, and an expression only computes, allowed: == to compare");
    return nullptr;
  }
  try {
    std::unique_ptr<Expression> expression(new Expression(text, where));
    int results = 0;
    static_cast<void>(expression->parser_->parser.Eval(results));
    if (results == 1) return expression;
    diagnostics.error(where, fmt::format("\"{}\" has {} values, allowed: one", one_line(text), results));
  } catch (const mu::ParserError& error) {
    const std::size_t at = error.GetPos() < 0 ? 0 : std::min(static_cast<std::size_t>(error.GetPos()), text.size());
    std::string what = error.GetMsg();
    what.resize(std::min(what.size(), what.find(" at position ")));  // which the place says
    while (what.ends_with('.')) what.pop_back();
    diagnostics.error(place(at), fmt::format("\"{}\" does not parse: {}", one_line(text), one_line(what)));
  }
  return nullptr;
}

double Expression::evaluate(std::span<const double> values) const {
  std::ranges::copy(values, parser_->values.begin());
  return parser_->parser.Eval();
}

}  // namespace tessera::experiment::sweep
