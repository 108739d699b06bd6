// The folder of a sweep: sweep.json says what was asked, each line of rows/*.jsonl what became of one point. The same
// code writes and reads both. Docs: docs/sweeps.md.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tessera/results/digest.hpp"
#include "tessera/results/points.hpp"

namespace tessera::results {

/// A key of the experiment that differs from point to point. unit: "" of plain numbers, "name" of texts, otherwise
/// "B", "B/s", "FLOP/s", "Hz", or "ps" of times.
struct SweepAxis {
  std::string key, unit;
  bool set = false;  ///< its value follows from others
  bool operator==(const SweepAxis&) const = default;
};

/// sweep.json.
struct SweepHead {
  std::string identity;  ///< of the sweep, 16 hexadecimal digits: folders that differ in it do not belong together
  std::string title;
  std::string version;              ///< of Tessera
  std::int64_t results_schema = 0;  ///< schema_version of its result files
  std::int64_t points = 0;          ///< numbered 0 to points - 1
  std::vector<SweepAxis> axes;
  bool has_checksums = true;  ///< in it and each row; false: an earlier Tessera's folder
  bool operator==(const SweepHead&) const = default;
};

/// One line of rows/*.jsonl.
struct SweepRow {
  std::int64_t point = 0;
  std::string name, identity, version;
  std::int64_t results_schema = 0;
  int code = 0;  ///< the exit code of `tessera run`
  std::string message;
  std::vector<std::pair<std::string, PointCell>> values;  ///< by key of SweepHead::axes
  std::optional<Digest> digest;                           ///< of a point with code 0
};

/// One line, without its end, here and below: with its checksum (docs/sweeps.md).
[[nodiscard]] std::string to_json(const SweepHead& head);
/// Bytes that are not UTF-8 are replaced.
[[nodiscard]] std::string to_json(const SweepRow& row);

/// IoError when there is no DIR/sweep.json, it cannot be read or differs from its checksum; InputError when it is no
/// such thing.
[[nodiscard]] SweepHead read_head(const std::string& folder);
/// The text of DIR/sweep.toml; empty where there is none. IoError.
[[nodiscard]] std::string read_given(const std::string& folder);
/// What counts of each point that has a line, and the lines that nobody can rely on.
struct SweepRows {
  std::vector<SweepRow> rows;  ///< in order of points
  std::vector<std::string>
      damaged;  ///< "DIR/rows/file.jsonl:12", of lines that differ from their checksum or are no row
};

/// Of a point the last of its lines (files in order of name) that is of the head's version and schema. What a kill has
/// cut off is passed over, and so are lines without a checksum unless the head has none either. IoError.
[[nodiscard]] SweepRows read_rows(const std::string& folder, const SweepHead& head);
/// SweepRows::damaged as a sentence, which names the first; empty when there are none.
[[nodiscard]] std::string damage_text(const std::vector<std::string>& damaged);

/// Whether there is a result file all of whose tables agree with their checksums.
[[nodiscard]] bool is_whole_result(const std::string& path);

/// Rows in the order that the table has, with columns for all that any of them has: point, name, the axes, code,
/// message, the digests. Provenance is left empty.
[[nodiscard]] PointsTable table_of(const SweepHead& head, const std::vector<SweepRow>& rows);

/// Several folders of one sweep as one table.
struct Merged {
  PointsTable table;
  std::vector<std::int64_t> missing;   ///< points of the sweep that no folder has a row of
  std::vector<std::string> damaged;    ///< as SweepRows
  std::vector<std::string> unchecked;  ///< folders whose rows have no checksums
};

/// Of a point that several folders have, a row that is done goes before one that is not, and otherwise the later
/// folder's. InputError for folders of different sweeps, versions or schemas, and where there is no row at all.
[[nodiscard]] Merged merge(const std::vector<std::string>& folders);

/// Numbers in ascending order as "12, 17-20".
[[nodiscard]] std::string number_ranges(const std::vector<std::int64_t>& numbers);

}  // namespace tessera::results
