// What the points of a sweep have in common: the experiment with its machine, model and recipe read, once for each
// combination of the axes that choose those files.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "../tree.hpp"
#include "axes.hpp"

namespace tessera::experiment::sweep {

/// Index of a value for each axis.
using Choice = std::vector<std::size_t>;

struct Base {
  std::shared_ptr<config::Table> inlined;    ///< an experiment without includes
  std::shared_ptr<config::Table> completed;  ///< with defaults
};

/// A sweep file: the experiment that it varies, and how.
struct SweepFile {
  std::string path;
  std::optional<config::Value> experiment;  ///< the file that it names
  std::shared_ptr<config::Table> own;       ///< its own tables, over that file's
  std::shared_ptr<config::Table> sweep;     ///< the [sweep] table
  std::vector<Setting> settings;            ///< over both
};

/// Null tables after an error.
[[nodiscard]] SweepFile read_sweep_file(const std::string& path, InputFiles& files, config::Diagnostics& diagnostics);

class Bases {
 public:
  /// Reads all of them. Problems go to `diagnostics`.
  Bases(const SweepFile& file, const Axes& axes, const SearchPath& search, const Parts& parts,
        config::Diagnostics& diagnostics);
  [[nodiscard]] const Base& at(const Choice& choice) const { return bases_[index_of(choice)]; }
  [[nodiscard]] std::size_t index_of(const Choice& choice) const;
  [[nodiscard]] const std::vector<Base>& all() const { return bases_; }
  /// Whether the axis is in the bases already.
  [[nodiscard]] bool has(std::size_t axis) const;

 private:
  [[nodiscard]] std::shared_ptr<config::Table> root_of(const SweepFile& file, const Choice& choice, InputFiles& files,
                                                       config::Diagnostics& diagnostics) const;
  void read(const SweepFile& file, const SearchPath& search, const Parts& parts, std::size_t count,
            config::Diagnostics& diagnostics);

  const Axes* axes_;
  std::vector<std::size_t> including_;  ///< axes that choose files
  std::vector<Base> bases_;
};

/// The axis whose values are whole experiments: files, or tables over the experiment by name.
inline constexpr const char* experiment_axis = "experiment";

/// The value of an axis in the tree: a table's entries come over those that are there, and an empty table among them
/// takes the place of the one that is there.
void put_value(config::Table& root, const std::string& key, const config::Value& value,
               config::Diagnostics& diagnostics);

}  // namespace tessera::experiment::sweep
