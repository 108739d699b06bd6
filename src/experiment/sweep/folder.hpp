// The folder that a sweep's points go to: sweep.json says which sweep, rows/ has a line for each point that was done,
// points/ their result files, claims who works on what.
#pragma once

#include <string>
#include <vector>

#include "claims.hpp"
#include "tessera/experiment/sweep.hpp"
#include "tessera/results/sweep_folder.hpp"

namespace tessera::experiment::sweep {

[[nodiscard]] results::SweepHead head_of(const Sweep& sweep, const std::string& version);

/// InputError when the folder holds another sweep.
void refuse_other_sweep(const Sweep& sweep, const std::string& folder);

/// Makes the folder and its parts, and writes what they begin with. InputError, IoError. One rank's business.
void prepare_folder(const Sweep& sweep, const std::string& folder, const std::string& version);

[[nodiscard]] std::string claims_path(const std::string& folder);
[[nodiscard]] std::string result_path(const std::string& folder, std::int64_t point);

/// What the rows of a folder say of each point.
struct RowsFound {
  std::vector<std::uint8_t> complete;    ///< its row is of this sweep, version and schema, and it has not failed
  std::vector<std::uint8_t> has_result;  ///< and it was simulated
  std::vector<std::string> damaged;      ///< as results::SweepRows
};
[[nodiscard]] RowsFound rows_found(const Sweep& sweep, const std::string& folder, const std::string& version);

enum class ResultState : std::uint8_t { whole, absent, damaged };
/// Of a point's file, which is read as a whole.
[[nodiscard]] ResultState result_state(const std::string& folder, std::int64_t point);

/// Removes unfinished result files of processes that were killed: those of points that nobody works on.
void remove_left_behind(const std::string& folder, Claims& claims);

/// The rows that one process adds: whole lines, in a file of its own.
class RowFile {
 public:
  /// Nothing is made before the first row. `started`: sorts files by time.
  RowFile(const std::string& folder, const std::string& started);
  ~RowFile();
  RowFile(const RowFile&) = delete;
  RowFile& operator=(const RowFile&) = delete;
  /// IoError, and the file is as before.
  void add(const results::SweepRow& row);

 private:
  void open();

  std::string stem_;  ///< of its name
  std::string path_;
  int file_ = -1;
};

}  // namespace tessera::experiment::sweep
