// The points of a sweep: numbered, named, and made into experiments.
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <ranges>

#include "generators.hpp"
#include "rules.hpp"
#include "tessera/base/error.hpp"
#include "tessera/base/hash.hpp"
#include "tessera/base/text.hpp"
#include "tessera/experiment/sweep.hpp"

namespace tessera::experiment {
namespace sweep {
namespace {

using config::Diagnostics;
using config::Table;
using config::Value;

constexpr std::int64_t beyond_count = std::numeric_limits<std::int64_t>::max();

/// The last part of each key, or the whole key where others end alike.
std::vector<std::string> short_names(const Axes& axes) {
  std::map<std::string, int> uses;
  for (const Axis& axis : axes.axes) ++uses[parts_of(axis.key).back()];
  std::vector<std::string> names;
  for (const Axis& axis : axes.axes) {
    const std::string last = parts_of(axis.key).back();
    names.push_back(uses[last] == 1 ? last : axis.key);
  }
  return names;
}

std::string unit_of(const Parameter& parameter) {
  return parameter.sort == Parameter::Sort::quantity ? name_of(parameter.unit) : "";
}

class Points final : public Sweep {
 public:
  Points(SweepFile file, Axes axes, SearchPath search, const SweepOptions& options, const Parts& parts,
         Diagnostics& diagnostics);

  const std::string& title() const override { return title_; }
  std::string text() const override { return search_.files.read(file_.path).value_or(""); }
  const std::string& identity() const override { return identity_; }
  const std::vector<results::SweepAxis>& axes() const override { return columns_; }
  std::int64_t combinations() const override { return combinations_; }
  std::int64_t points() const override { return static_cast<std::int64_t>(kept_.size()); }
  Point point(std::int64_t number) const override;
  Source source(const Point& point, Diagnostics& diagnostics) const override;

 private:
  void count_combinations(const SweepOptions& options, Diagnostics& diagnostics);
  /// The parameter that an axis names, or why there is none.
  struct Found {
    std::optional<Parameter> parameter;
    Diagnostics unknown;
  };
  [[nodiscard]] std::vector<Found> find_parameters() const;
  void check_axes(Diagnostics& diagnostics) const;
  void find_points(Diagnostics& diagnostics);
  void name_columns();
  void read_attached();
  [[nodiscard]] Choice choice_of(std::uint64_t combination) const;
  [[nodiscard]] std::string name_of_choice(const Choice& choice) const;
  [[nodiscard]] std::shared_ptr<Table> with_own_values(const Choice& choice, const Derived& derived) const;

  SweepFile file_;
  Axes axes_;
  SearchPath search_;
  Parts parts_;
  Bases bases_;
  std::unique_ptr<Rules> rules_;
  std::vector<std::string> names_;
  std::string title_, identity_;
  std::vector<results::SweepAxis> columns_;
  std::int64_t combinations_ = 0;
  std::vector<std::uint64_t> kept_;
};

Points::Points(SweepFile file, Axes axes, SearchPath search, const SweepOptions& options, const Parts& parts,
               Diagnostics& diagnostics)
    : file_(std::move(file)),
      axes_(std::move(axes)),
      search_(std::move(search)),
      parts_(parts),
      bases_(file_, axes_, search_, parts, diagnostics) {
  if (!diagnostics.ok()) return;
  names_ = short_names(axes_);
  const Value* title = file_.own->find("title");
  if (title == nullptr) title = bases_.all().front().completed->find("title");
  title_ = title->string() == nullptr ? "" : *title->string();
  count_combinations(options, diagnostics);
  if (!diagnostics.ok()) return;
  check_axes(diagnostics);
  if (!diagnostics.ok()) return;
  rules_ = std::make_unique<Rules>(*file_.sweep, axes_, bases_, parts, diagnostics);
  if (!diagnostics.ok()) return;
  find_points(diagnostics);
  name_columns();
  read_attached();
  std::string set;
  for (const Setting& setting : options.settings) set += setting.key + "=" + setting.value + "\n";
  identity_ = fmt::format("{:016x}", hash_of(fmt::format("{:016x} {}", search_.files.hash(), set)));
}

void Points::count_combinations(const SweepOptions& options, Diagnostics& diagnostics) {
  combinations_ = 1;
  for (std::size_t group = 0; group < axes_.groups.size(); ++group) {
    const auto length = static_cast<std::int64_t>(axes_.length(group));
    combinations_ = combinations_ > beyond_count / length ? beyond_count : combinations_ * length;
  }
  if (combinations_ > most_combinations && (!options.any_number || combinations_ == beyond_count))
    diagnostics.error(file_.sweep->where(),
                      fmt::format("{} combinations, allowed: at most {}{}", combinations_, most_combinations,
                                  combinations_ == beyond_count ? "" : ", or any number with --yes"));
}

/// Of each axis that is in no base.
std::vector<Points::Found> Points::find_parameters() const {
  std::vector<Found> found(axes_.axes.size());
  const auto try_choice = [&](const Choice& choice) {
    const auto root = complete(*with_own_values(choice, {}), parts_);
    for (std::size_t i = 0; i < axes_.axes.size(); ++i) {
      if (bases_.has(i) || found[i].parameter) continue;
      Diagnostics own;
      found[i].parameter = find_parameter(*root, axes_.axes[i].key, parts_, axes_.axes[i].where, own);
      if (found[i].unknown.ok()) found[i].unknown.add(own);
    }
  };
  Choice choice(axes_.axes.size(), 0);
  try_choice(choice);
  const auto is_open = [&](std::size_t i) { return !bases_.has(i) && !found[i].parameter; };
  // Names that an axis chooses decide which keys there are: one value that knows the key is enough. One tree at a time:
  // an axis may have a million names.
  for (std::size_t i = 0; i < axes_.axes.size(); ++i) {
    for (std::size_t v = 1; v < axes_.axes[i].values.size() && axes_.axes[i].unit == "name"; ++v) {
      const auto axes = std::views::iota(std::size_t{0}, axes_.axes.size());
      if (std::ranges::none_of(axes, is_open)) return found;
      choice[i] = v;
      try_choice(choice);
    }
    choice[i] = 0;
  }
  return found;
}

/// That each axis names a parameter, and that quantities are of its dimension.
void Points::check_axes(Diagnostics& diagnostics) const {
  const std::vector<Found> found = find_parameters();
  for (std::size_t i = 0; i < axes_.axes.size(); ++i) {
    const Axis& axis = axes_.axes[i];
    if (bases_.has(i)) continue;  // whose files have been read
    const auto& [parameter, unknown] = found[i];
    if (!parameter) diagnostics.add(unknown);
    if (!parameter || parameter->sort != Parameter::Sort::quantity) continue;
    config::Location said;  // values of a range stand at one place
    for (const AxisValue& value : axis.values) {
      const config::Location& where = value.value.where();
      if (where.line == said.line && where.column == said.column && said.line > 0) continue;
      std::string problem = value.value.type_name() + " is not allowed here, expected a quantity with its unit";
      const std::string* text = value.value.string();
      if (text != nullptr && config::parse_quantity(*text, parameter->unit, problem)) continue;
      diagnostics.error(where, "axis \"" + axis.key + "\": " + problem);
      said = where;
    }
  }
}

void Points::find_points(Diagnostics& diagnostics) {
  constexpr std::uint64_t probes = 64;
  for (std::uint64_t i = 0; i < std::min<std::uint64_t>(probes, combinations_) && diagnostics.ok(); ++i)
    rules_->check_dimensions(choice_of(i), diagnostics);
  if (!diagnostics.ok()) return;
  for (std::uint64_t i = 0; i < static_cast<std::uint64_t>(combinations_); ++i)
    if (rules_->derive(choice_of(i)).kept) kept_.push_back(i);
  if (kept_.empty())
    diagnostics.error(file_.sweep->where(),
                      fmt::format("no point: \"where\" leaves out all {} combinations", combinations_));
}

/// Files that the strategies of the experiments name, and values of axes: whoever else carries out points does not
/// read.
void Points::read_attached() {
  const auto read = [&](const Table& whole) {
    const auto copy = config::clone(whole);
    Diagnostics ignored;  // points that need them say what is wrong
    static_cast<void>(attach(*copy, parts_.strategies, search_.files, ignored));
  };
  for (const Base& base : bases_.all()) read(*base.completed);
  for (std::size_t i = 0; i < axes_.axes.size(); ++i) {
    if (!axes_.axes[i].key.starts_with("strategy.")) continue;
    Choice choice(axes_.axes.size(), 0);
    for (choice[i] = 0; choice[i] < axes_.axes[i].values.size(); ++choice[i]) {
      const Value& value = axes_.axes[i].values[choice[i]].value;
      if (value.string() != nullptr || value.table() != nullptr)  // numbers name no file
        read(*complete(*with_own_values(choice, {}), parts_));
    }
  }
}

void Points::name_columns() {
  for (const Axis& axis : axes_.axes) columns_.push_back({axis.key, axis.unit, false});
  for (const SetRule& rule : rules_->order()) columns_.push_back({rule.key, unit_of(rule.parameter), true});
}

Choice Points::choice_of(std::uint64_t combination) const {
  Choice choice(axes_.axes.size());
  for (std::size_t group = axes_.groups.size(); group-- > 0;) {
    const std::size_t length = axes_.length(group);
    for (const std::size_t axis : axes_.groups[group]) choice[axis] = combination % length;
    combination /= length;
  }
  return choice;
}

std::string Points::name_of_choice(const Choice& choice) const {
  std::string name;
  for (const auto& group : axes_.groups) {
    const std::size_t axis = group.front();  // tells the others
    name += fmt::format("{}{}={}", name.empty() ? "" : " ", names_[axis], axes_.axes[axis].values[choice[axis]].text);
  }
  return one_line(name);
}

std::shared_ptr<Table> Points::with_own_values(const Choice& choice, const Derived& derived) const {
  Diagnostics ignored;  // a value in the place of a table: whoever reads the experiment says so
  auto root = config::clone(*bases_.at(choice).inlined);
  for (std::size_t i = 0; i < axes_.axes.size(); ++i)
    if (!bases_.has(i)) put_value(*root, axes_.axes[i].key, axes_.axes[i].values[choice[i]].value, ignored);
  for (std::size_t i = 0; i < derived.values.size(); ++i)
    put(*root, rules_->order()[i].key, derived.values[i], ignored);
  return root;
}

Point Points::point(std::int64_t number) const {
  Point point;
  point.number = number;
  point.combination = kept_[static_cast<std::size_t>(number)];
  const Choice choice = choice_of(point.combination);
  const Derived derived = rules_->derive(choice);
  point.name = name_of_choice(choice);
  point.refused = derived.problem;
  for (std::size_t i = 0; i < axes_.axes.size(); ++i) point.cells.push_back(axes_.axes[i].values[choice[i]].cell);
  for (std::size_t i = 0; i < rules_->order().size(); ++i)
    point.cells.push_back(i < derived.values.size() && derived.problem.empty() ? cell_of(derived.values[i]) : Cell{});
  // Whoever knows the sweep knows the point, but for its number.
  point.identity = fmt::format("{:016x}", hash_of(fmt::format("{} {}", identity_, point.combination)));
  return point;
}

Source Points::source(const Point& point, Diagnostics& diagnostics) const {
  Source source;
  const Choice choice = choice_of(point.combination);
  const Derived derived = rules_->derive(choice);
  if (!derived.problem.empty()) throw InputError(derived.problem);
  const auto root = with_own_values(choice, derived);
  root->set("title", {title_ + ": " + point.name, file_.sweep->where()});
  expand_machine(*root, diagnostics);
  source.table = complete(*root, parts_);
  source.files = attach(*source.table, parts_.strategies, search_.files, diagnostics);
  source.given =
      fmt::format("# Point {} of the sweep {}: {}\n", point.number, one_line(file_.path), point.name) + text();
  return source;
}

}  // namespace
}  // namespace sweep

std::unique_ptr<Sweep> load_sweep(const std::string& path, const SweepOptions& options,
                                  const std::vector<std::filesystem::path>& folders, InputFiles& files,
                                  config::Diagnostics& diagnostics, const Parts& parts) {
  sweep::SweepFile file = sweep::read_sweep_file(path, files, diagnostics);
  if (!diagnostics.ok()) return nullptr;
  file.settings = options.settings;
  sweep::generate(file, diagnostics);
  if (!diagnostics.ok()) return nullptr;
  sweep::Axes axes = sweep::read_axes(*file.sweep, diagnostics);
  if (!diagnostics.ok()) return nullptr;
  const std::filesystem::path own = files.is_file(path) ? std::filesystem::path(path).parent_path() : "";
  auto points = std::make_unique<sweep::Points>(std::move(file), std::move(axes), SearchPath{own, folders, files},
                                                options, parts, diagnostics);
  return diagnostics.ok() ? std::move(points) : nullptr;
}

}  // namespace tessera::experiment
