// Values of a point that follow from others (`set`), and which points there are (`where`).
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "amounts.hpp"
#include "bases.hpp"
#include "expression.hpp"
#include "parameters.hpp"

namespace tessera::experiment::sweep {

struct SetRule {
  std::string key;
  config::Location where;  ///< of the key
  std::unique_ptr<Expression> expression;
  Parameter parameter;
};

/// What `set` makes of a combination.
struct Derived {
  std::vector<config::Value> values;  ///< by Rules::order(); of no use where `problem` says so
  bool kept = true;                   ///< by `where`
  std::string problem;                ///< a line with its place: why the combination is no experiment
};

class Rules {
 public:
  /// Problems go to `diagnostics`. Axes and bases outlive the rules.
  Rules(const config::Table& sweep, const Axes& axes, const Bases& bases, const Parts& parts,
        config::Diagnostics& diagnostics);
  /// In an order in which none needs one behind it.
  [[nodiscard]] const std::vector<SetRule>& order() const { return rules_; }
  [[nodiscard]] Derived derive(const Choice& choice) const;
  /// Of a combination: whether the dimensions of all expressions are right, at the places where they are not.
  void check_dimensions(const Choice& choice, config::Diagnostics& diagnostics) const;

 private:
  using Amounts = std::vector<std::optional<Amount>>;  ///< by rule; of those that have been computed

  void read_set(const config::Table& sweep, config::Diagnostics& diagnostics);
  void read_where(const config::Table& sweep, config::Diagnostics& diagnostics);
  void sort_rules(config::Diagnostics& diagnostics);
  void check_names(const Expression& expression, const Parts& parts, config::Diagnostics& diagnostics) const;
  [[nodiscard]] std::optional<Amount> amount(const std::string& name, const Choice& choice, const Amounts& set) const;
  /// What makes the machine of a combination, as a text.
  [[nodiscard]] std::string makers_of_machine(const Choice& choice, const Amounts& set) const;
  /// The machine of a combination with its defaults, its template carried out. InputError where that is forbidden.
  [[nodiscard]] const config::Table& machine_of(const Choice& choice, const Amounts& set) const;
  /// Whether a key of the machine follows from a template, so that each combination has its own.
  [[nodiscard]] bool is_generated(const std::string& name, const Choice& choice) const;
  [[nodiscard]] double devices(const Choice& choice, const Amounts& set) const;
  [[nodiscard]] std::vector<Amount> amounts_of(const Expression& expression, const Choice& choice,
                                               const Amounts& set) const;
  [[nodiscard]] config::Value value_of(const SetRule& rule, double value, std::string& problem) const;
  void apply(const SetRule& rule, double value, config::Table& root) const;

  const Axes* axes_;
  const Bases* bases_;
  machine::Topologies topologies_;
  std::vector<SetRule> rules_;
  std::unique_ptr<Expression> where_;
  /// Devices of machines that have been built, by what makes them.
  mutable std::map<std::string, double> devices_;
  /// The machine that was asked for last, and what makes it.
  mutable std::shared_ptr<const config::Table> machine_;
  mutable std::string machine_made_of_;
};

}  // namespace tessera::experiment::sweep
