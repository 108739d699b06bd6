// The files that inputs consist of, each read once: what one rank has read the others answer from.
#pragma once

#include <boost/serialization/map.hpp>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>

namespace tessera::experiment {

class InputFiles {
 public:
  static constexpr std::size_t most_bytes = std::size_t{64} << 20U;

  /// A file as text; nothing when there is no such file. Never hangs: InputError for what is neither a file nor a pipe
  /// that somebody writes into, and for more than `most`; IoError when it cannot be read.
  [[nodiscard]] std::optional<std::string> read(const std::filesystem::path& path, std::size_t most = most_bytes);
  [[nodiscard]] bool is_file(const std::filesystem::path& path);
  /// A file or anything else.
  [[nodiscard]] bool exists(const std::filesystem::path& path);

  /// From now on nothing is looked up: what is not known is an InternalError.
  void close() { is_closed_ = true; }

  /// A hash of everything that was read.
  [[nodiscard]] std::uint64_t hash() const;

  template <class Archive>
  void serialize(Archive& archive, unsigned) {
    archive& texts_& kinds_;
  }

 private:
  enum Kind : int { none, file, other };
  [[nodiscard]] int kind_of(const std::filesystem::path& path);

  std::map<std::string, std::string> texts_;
  std::map<std::string, int> kinds_;
  bool is_closed_ = false;
};

}  // namespace tessera::experiment
