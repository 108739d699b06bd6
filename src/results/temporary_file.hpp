// The file under its temporary name: it becomes the result when complete, and vanishes on failure or on a signal.
#pragma once

#include <string>

#include "tessera/results/results.hpp"

namespace tessera::results {

/// Why nothing can be written to `path`: "it is a directory", "'a/b' is not a directory", "there is no directory 'a'",
/// "Permission denied", that it is open as standard output, or, unless it may be replaced, that there is a file. Empty
/// when all is well; no file is left behind.
[[nodiscard]] std::string why_not_writable(const std::string& path, bool replace);

/// The file itself, or that there is none; behind a link what it leads to.
[[nodiscard]] Replacing what_stands_at(const std::string& path);

/// The first name beside `path`, or beside the file to which it is a link, that a temporary file of this process gets.
[[nodiscard]] std::string temporary_name(const std::string& path);

/// While it lives, SIGTERM, SIGINT and SIGHUP remove the file first and then do what they did before (end the process,
/// or call the application's handler); one that is ignored stays so. At most one at a time in a process.
class TemporaryFile {
 public:
  /// While one lives, a signal that the process survives leaves the file where it is, and the end of this removes it:
  /// ranks that open one name together must all find the file, or Open MPI's MPI_File_open waits for ever.
  struct NameIsNeeded {
    NameIsNeeded();
    ~NameIsNeeded();
    NameIsNeeded(const NameIsNeeded&) = delete;
    NameIsNeeded& operator=(const NameIsNeeded&) = delete;
  };

  /// Makes the file, empty, beside `path` or the file to which that is a link, under a name that no file had, and owns
  /// it: removes it on destruction as well. Failure with the system's reason.
  explicit TemporaryFile(const std::string& path);
  /// A file that is there: of the other ranks of a parallel write, which remove it on a signal alone, and are no
  /// owners.
  TemporaryFile(std::string name, bool owner);
  ~TemporaryFile();
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  [[nodiscard]] const std::string& name() const { return name_; }
  /// A signal came: the file is gone or will be, and the writer should give up.
  [[nodiscard]] static bool interrupted();
  /// Renames the file, which is complete and on the disk, to `path`, or to the file to which that is a link; IoError
  /// text `cannot write 'path': reason`. The destructor then leaves it alone, also where there is a file at `path` by
  /// now that must not be replaced: the reason says under which name the new one is.
  void become(const std::string& path, const Replacing& replacing);

 private:
  void watch() const;

  std::string name_;
  bool owner_;
};

}  // namespace tessera::results
