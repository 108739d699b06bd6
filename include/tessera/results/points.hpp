// A table of many runs, one row a point (docs/results.md): `tessera merge` writes one of a sweep, `tessera plan --all`
// one of a search's candidates, and `tessera show` and tessera_analysis read both. No function here needs MPI.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "tessera/results/results.hpp"

namespace tessera::results {

/// What a column holds in the file: int64, float64, or null-padded UTF-8 of the length of its longest text.
enum class PointKind { integer, number, text };

struct PointColumn {
  std::string name;         ///< letters, digits and _; times end in _ps
  std::string units;        ///< "ps", "B", "B/s", "FLOP", "FLOP/s", "Hz", "1/s", "s", "1" of plain numbers, "text"
  std::string description;  ///< what it says
  PointKind kind = PointKind::integer;
};

/// One value. None: this point has no such value; the file then has 0, NaN or an empty text.
using PointCell = std::variant<std::monostate, std::int64_t, double, std::string>;

/// A column whose values the asker chose: `key` is the parameter of the experiment that it varies.
struct PointAxis {
  std::string column, key;
  bool follows = false;  ///< its values follow from those of other axes (`set` of a sweep)
};

/// A text of /provenance: how the table came about. An empty value is kept as such.
struct PointsText {
  std::string name, value, description;
};

/// Columns that `tessera show` and tessera_analysis look for by name: point, name, code (0: done; otherwise the exit
/// code that the point ended with), message, iteration_time_ps (0: none). All others are free.
struct PointsTable {
  std::string title;                         ///< of the sweep or the search
  std::vector<PointColumn> columns;          ///< names differ
  std::vector<std::vector<PointCell>> rows;  ///< each with a cell a column; an integer may stand in a column of numbers
  std::vector<PointAxis> axes;               ///< in the order in which the asker gave them
  std::vector<PointsText> provenance;
};

/// Writes /points, /axes and /provenance, as results::write() does: under a temporary name, read again, renamed when
/// whole. IoError as there. InternalError when a row has another number of cells than there are columns or a cell of
/// another kind, an axis names no column, or two columns have one name. By one process alone.
void write_points(const std::string& path, const PointsTable& table, const Replacing& replacing = {});

/// Whether `path` can be opened and says that it is such a table; whatever else it is, is found out by who reads it.
[[nodiscard]] bool is_points(const std::string& path);

/// Everything of a file. What has no value comes as the 0, NaN or empty text of the file. IoError and InputError as for
/// summary().
[[nodiscard]] PointsTable read_points(const std::string& path, Checking checking = Checking::all);

/// Of a row's column `phase`: tokens are made one at a time, so that runs of other batches compare by tokens a second.
[[nodiscard]] bool makes_tokens(const std::string& phase);

/// The best points, the refused ones by code, and what each axis does to the time, or where all points make tokens to
/// tokens a second, as text.
[[nodiscard]] std::string points_summary(const std::string& path, Checking checking = Checking::all);

/// The table as comma-separated values (RFC 4180): a line of names, then a line a row; nothing where there is no value.
[[nodiscard]] std::string to_csv(const PointsTable& table);

}  // namespace tessera::results
