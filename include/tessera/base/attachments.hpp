// Files that an experiment's keys name: read once, by one rank, and handed to whoever the keys belong to.
#pragma once

#include <algorithm>
#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "tessera/base/tensors.hpp"

namespace tessera {

/// A file that a key of the tables [strategy] or [cost] names (Schema::names_file()), read once for all ranks.
struct Attachment {
  std::string key;  ///< of its table
  std::string path;
  std::string hash;     ///< of the content, 16 hexadecimal digits
  std::string content;  ///< bytes, as they are

  template <class Archive>
  void serialize(Archive& archive, unsigned) {
    archive& key& path& hash& content;
  }
};

/// All of an experiment. The files outlive this.
struct Attachments {
  std::span<const Attachment> files = {};
  /// What has been learnt, of a file that `tessera train` made of it. InputError where the file is no such one, or
  /// damaged. Empty: nobody reads such files here.
  std::function<Tensors(const Attachment&)> tensors_of = {};

  /// That of a key; null: the key is not given.
  [[nodiscard]] const Attachment* find(std::string_view key) const {
    const auto found = std::ranges::find(files, key, &Attachment::key);
    return found == files.end() ? nullptr : &*found;
  }
};

}  // namespace tessera
