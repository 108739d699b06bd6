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

/// By point, whether nothing is left to do: its row is of this sweep, version and schema, it has not failed, and its
/// result file is there where one is kept.
[[nodiscard]] std::vector<bool> complete_points(const Sweep& sweep, const std::string& folder,
                                                const std::string& version, bool keep_files);

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
  std::string path_;
  int file_ = -1;
};

}  // namespace tessera::experiment::sweep
