// Fields that hold one number, text or choice.
#include <fmt/format.h>

#include <cmath>

#include "bounds.hpp"
#include "tessera/base/config.hpp"
#include "tessera/base/error.hpp"

namespace tessera::config::detail {
namespace {

/// What all scalars share: a decoder that says what is wrong, an optional range.
template <class V>
class ScalarField : public FieldBase {
 public:
  ScalarField(const std::string& key, const std::string& help, Access<V> member)
      : FieldBase(key, help), member_(std::move(member)) {}

  void read(void* object, const Value& value, Diagnostics& diagnostics) const override {
    std::string problem;
    const std::optional<V> decoded = decode(value, problem);
    if (decoded) {
      member_.set(object, *decoded);
    } else {
      diagnostics.error(value.where(), '"' + key() + "\": " + problem);
    }
  }

  Value write(const void* object, const void*) const override { return {encode(member_.get(object)), {}}; }
  bool is_initial(const void* object, const void* initial) const override {
    return member_.get(object) == member_.get(initial);
  }

 protected:
  virtual std::optional<V> decode(const Value& value, std::string& problem) const = 0;
  virtual Value::Content encode(const V& value) const = 0;

  /// Defaults go through the same checks as what the user writes.
  Value parse_fallback(const std::string& text) const override {
    Value value = parse_plain(text);
    std::string problem;
    if (!decode(value, problem)) misuse("default " + text + ": " + problem);
    return value;
  }
  virtual Value parse_plain(const std::string& text) const { return parse_literal(key(), text); }

  Access<V> member_;
};

class QuantityField : public ScalarField<std::int64_t> {
 public:
  QuantityField(const std::string& key, const std::string& help, Access<std::int64_t> member, Unit unit)
      : ScalarField(key, help, std::move(member)), unit_(unit) {
    bounds_.minimum = 0;
  }
  void set_minimum(const std::string& bound) override { bounds_.minimum = parse_bound(bound); }
  void set_maximum(const std::string& bound) override { bounds_.maximum = parse_bound(bound); }
  std::string expectation() const override { return quantity_example(unit_); }
  ParameterHelp describe() const override {
    return {"", quantity_name(unit_), quantity_unit(unit_), bounds_.describe(formatter()), "", ""};
  }

 protected:
  std::optional<std::int64_t> decode(const Value& value, std::string& problem) const override {
    const std::string* text = value.string();
    if (text == nullptr) {
      problem = value.type_name() + " is not allowed here, expected " + quantity_example(unit_);
      return std::nullopt;
    }
    const auto parsed = parse_quantity(*text, unit_, problem);
    if (!parsed) return std::nullopt;
    if (bounds_.contain(*parsed)) return parsed;
    problem = bounds_.complain('"' + *text + '"', formatter());
    return std::nullopt;
  }
  Value::Content encode(const std::int64_t& value) const override { return format_quantity(value, unit_); }
  Value parse_plain(const std::string& text) const override { return {text, {}}; }

 private:
  std::function<std::string(std::int64_t)> formatter() const {
    return [unit = unit_](std::int64_t value) { return format_quantity(value, unit); };
  }
  std::int64_t parse_bound(const std::string& bound) const {
    std::string problem;
    const auto value = parse_quantity(bound, unit_, problem);
    if (!value) misuse("bound " + problem);
    return *value;
  }

  Unit unit_;
  Bounds<std::int64_t> bounds_;
};

class IntegerField : public ScalarField<std::int64_t> {
 public:
  IntegerField(const std::string& key, const std::string& help, Access<std::int64_t> member, std::int64_t lowest,
               std::int64_t highest)
      : ScalarField(key, help, std::move(member)), lowest_(lowest), highest_(highest) {}
  void set_minimum(const std::string& bound) override { bounds_.minimum = parse_bound(bound); }
  void set_maximum(const std::string& bound) override { bounds_.maximum = parse_bound(bound); }
  std::string expectation() const override { return "a whole number"; }
  ParameterHelp describe() const override { return {"", "whole number", "", bounds_.describe(print_integer), "", ""}; }

 protected:
  std::optional<std::int64_t> decode(const Value& value, std::string& problem) const override {
    return decode_integer(value, effective_bounds(), problem);
  }
  Value::Content encode(const std::int64_t& value) const override { return value; }

 private:
  /// The declared range, and what the member can hold.
  Bounds<std::int64_t> effective_bounds() const {
    Bounds<std::int64_t> bounds = bounds_;
    if (lowest_ != std::numeric_limits<std::int64_t>::min() && !bounds.minimum) bounds.minimum = lowest_;
    if (highest_ != std::numeric_limits<std::int64_t>::max() && !bounds.maximum) bounds.maximum = highest_;
    return bounds;
  }
  std::int64_t parse_bound(const std::string& bound) const {
    std::string problem;
    const auto value = decode_integer(parse_literal(key(), bound), {}, problem);
    if (!value) misuse("bound " + bound + ": " + problem);
    return *value;
  }

  std::int64_t lowest_, highest_;
  Bounds<std::int64_t> bounds_;
};

class NumberField : public ScalarField<double> {
 public:
  using ScalarField::ScalarField;
  void set_minimum(const std::string& bound) override { bounds_.minimum = parse_bound(bound); }
  void set_maximum(const std::string& bound) override { bounds_.maximum = parse_bound(bound); }
  std::string expectation() const override { return "a number"; }
  ParameterHelp describe() const override { return {"", "number", "", bounds_.describe(print_number), "", ""}; }

 protected:
  std::optional<double> decode(const Value& value, std::string& problem) const override {
    double number = 0;
    if (const auto* whole = std::get_if<std::int64_t>(&value.content())) {
      number = static_cast<double>(*whole);
    } else if (const auto* real = std::get_if<double>(&value.content())) {
      number = *real;
    } else {
      problem = value.type_name() + " is not allowed here, expected a number";
      return std::nullopt;
    }
    if (!std::isfinite(number)) {
      problem = "is not finite, expected a number";
      return std::nullopt;
    }
    if (bounds_.contain(number)) return number;
    problem = bounds_.complain(print_number(number), print_number);
    return std::nullopt;
  }
  Value::Content encode(const double& value) const override { return value; }

 private:
  static std::string print_number(double value) { return fmt::format("{}", value); }
  double parse_bound(const std::string& bound) const {
    std::string problem;
    const auto value = decode(parse_literal(key(), bound), problem);
    if (!value) misuse("bound " + bound + ": " + problem);
    return *value;
  }

  Bounds<double> bounds_;
};

class BooleanField : public ScalarField<bool> {
 public:
  using ScalarField::ScalarField;
  std::string expectation() const override { return "true or false"; }
  ParameterHelp describe() const override { return {"", "boolean", "", "true | false", "", ""}; }
  std::vector<Value> values() const override { return {Value(false, {}), Value(true, {})}; }

 protected:
  std::optional<bool> decode(const Value& value, std::string& problem) const override {
    if (const auto* flag = std::get_if<bool>(&value.content())) return *flag;
    problem = value.type_name() + " is not allowed here, expected true or false";
    return std::nullopt;
  }
  Value::Content encode(const bool& value) const override { return value; }
};

class TextField : public ScalarField<std::string> {
 public:
  using ScalarField::ScalarField;
  std::string expectation() const override { return "a text"; }
  ParameterHelp describe() const override { return {"", "text", "", "", "", ""}; }

 protected:
  std::optional<std::string> decode(const Value& value, std::string& problem) const override {
    if (const std::string* text = value.string()) return *text;
    problem = value.type_name() + " is not allowed here, expected a text in quotes";
    return std::nullopt;
  }
  Value::Content encode(const std::string& value) const override { return value; }
  Value parse_plain(const std::string& text) const override { return {text, {}}; }
};

class ChoiceField : public ScalarField<std::size_t> {
 public:
  ChoiceField(const std::string& key, const std::string& help, Access<std::size_t> member,
              std::vector<std::string> choices)
      : ScalarField(key, help, std::move(member)), choices_(std::move(choices)) {
    if (choices_.empty()) misuse("has no choices");
  }
  std::string expectation() const override { return "one of " + joined(", "); }
  ParameterHelp describe() const override { return {"", "choice", "", joined(" | "), "", ""}; }
  std::vector<Value> values() const override {
    std::vector<Value> all;
    for (const std::string& choice : choices_) all.emplace_back(choice, Location{});
    return all;
  }

 protected:
  std::optional<std::size_t> decode(const Value& value, std::string& problem) const override {
    const std::string* text = value.string();
    if (text == nullptr) {
      problem = value.type_name() + " is not allowed here, expected one of " + joined(", ");
      return std::nullopt;
    }
    const auto found = std::find(choices_.begin(), choices_.end(), *text);
    if (found != choices_.end()) return static_cast<std::size_t>(found - choices_.begin());
    problem = unknown("choice", *text, choices_);
    return std::nullopt;
  }
  Value::Content encode(const std::size_t& index) const override {
    if (index >= choices_.size()) misuse("the value to print is none of " + joined(", "));
    return choices_[index];
  }
  Value parse_plain(const std::string& text) const override { return {text, {}}; }

 private:
  std::string joined(const char* separator) const { return fmt::format("{}", fmt::join(choices_, separator)); }

  std::vector<std::string> choices_;
};

}  // namespace

Field quantity_field(const std::string& key, const std::string& help, Access<std::int64_t> member, Unit unit) {
  return std::make_unique<QuantityField>(key, help, std::move(member), unit);
}

Field integer_field(const std::string& key, const std::string& help, Access<std::int64_t> member, std::int64_t lowest,
                    std::int64_t highest) {
  return std::make_unique<IntegerField>(key, help, std::move(member), lowest, highest);
}

Field number_field(const std::string& key, const std::string& help, Access<double> member) {
  return std::make_unique<NumberField>(key, help, std::move(member));
}

Field boolean_field(const std::string& key, const std::string& help, Access<bool> member) {
  return std::make_unique<BooleanField>(key, help, std::move(member));
}

Field text_field(const std::string& key, const std::string& help, Access<std::string> member) {
  return std::make_unique<TextField>(key, help, std::move(member));
}

Field choice_field(const std::string& key, const std::string& help, Access<std::size_t> member,
                   std::vector<std::string> choices) {
  return std::make_unique<ChoiceField>(key, help, std::move(member), std::move(choices));
}

}  // namespace tessera::config::detail
