// Numbers that something has learnt, as plain data: what makes them and what writes them into files know nothing of
// each other.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace tessera {

/// A matrix, row-major.
struct Tensor {
  std::string name;         ///< of letters, digits and underscores
  std::string description;  ///< in a line
  std::uint64_t rows = 0, columns = 0;
  std::vector<float> values;  ///< rows x columns

  template <class Archive>
  void serialize(Archive& archive, unsigned) {
    archive& name& description& rows& columns& values;
  }
};

/// Tensors, and texts that say what they are for.
struct Tensors {
  std::vector<std::pair<std::string, std::string>> notes;  ///< name -> text; names as those of tensors
  std::vector<Tensor> all;

  [[nodiscard]] const Tensor* find(const std::string& name) const {
    const auto found = std::ranges::find(all, name, &Tensor::name);
    return found == all.end() ? nullptr : &*found;
  }
  /// Empty: there is none.
  [[nodiscard]] std::string note(const std::string& name) const {
    const auto found = std::ranges::find(notes, name, &std::pair<std::string, std::string>::first);
    return found == notes.end() ? std::string() : found->second;
  }

  template <class Archive>
  void serialize(Archive& archive, unsigned) {
    archive& notes& all;
  }
};

}  // namespace tessera
