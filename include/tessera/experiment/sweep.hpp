// Many points of one experiment: a file with a [sweep] table, as numbered points, each an experiment of its own
// (docs/sweeps.md).
//
//   config::Diagnostics diagnostics;
//   InputFiles files;
//   const auto sweep = load_sweep("scaling.toml", {}, input_folders(), files, diagnostics);
//   diagnostics.throw_if_errors();
//   const Source source = sweep->source(sweep->point(12), diagnostics);   // as load() gives that of a file
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "tessera/experiment/experiment.hpp"
#include "tessera/experiment/input_files.hpp"
#include "tessera/results/sweep_folder.hpp"

namespace tessera::experiment {

using Cell = results::PointCell;

/// One combination of values.
struct Point {
  std::int64_t number = 0;        ///< 0 .. points() - 1, however they are shared out
  std::uint64_t combination = 0;  ///< of all, also of those that `where` leaves out
  std::string name;               ///< "nodes=8 nvlink_bandwidth=75 GB/s"
  std::string identity;           ///< a hash of all that makes it, 16 hexadecimal digits
  std::vector<Cell> cells;        ///< by Sweep::axes()
  std::string refused;            ///< why it cannot be an experiment: a value of `set` is no whole number, for instance
};

class Sweep {
 public:
  virtual ~Sweep() = default;
  [[nodiscard]] virtual const std::string& title() const = 0;
  /// Of the sweep file.
  [[nodiscard]] virtual std::string text() const = 0;
  /// Of all that was read and set: another one is another sweep.
  [[nodiscard]] virtual const std::string& identity() const = 0;
  [[nodiscard]] virtual const std::vector<results::SweepAxis>& axes() const = 0;
  /// Before `where`; 2^63 - 1: that many or more.
  [[nodiscard]] virtual std::int64_t combinations() const = 0;
  [[nodiscard]] virtual std::int64_t points() const = 0;
  /// number < points().
  [[nodiscard]] virtual Point point(std::int64_t number) const = 0;
  /// The point's experiment. Problems go to `diagnostics`, at the places of the values; of a refused point that is why.
  [[nodiscard]] virtual Source source(const Point& point, config::Diagnostics& diagnostics) const = 0;
};

/// Combinations that are gone through without being asked for.
inline constexpr std::int64_t most_combinations = 10'000'000;

struct SweepOptions {
  std::vector<Setting> settings;  ///< over the experiment, below the axes
  bool any_number = false;        ///< more than most_combinations are meant
};

/// Reads a sweep, and through `files` every file that any point needs. Problems go to `diagnostics`; null after an
/// error.
[[nodiscard]] std::unique_ptr<Sweep> load_sweep(const std::string& path, const SweepOptions& options,
                                                const std::vector<std::filesystem::path>& folders, InputFiles& files,
                                                config::Diagnostics& diagnostics, const Parts& parts = {});

}  // namespace tessera::experiment
