// Ownership and errors of HDF5 objects; hdf5.h itself stays in the .cpp files of this folder.
#pragma once

#include <cstdint>
#include <utility>

#include "../failure.hpp"

namespace tessera::results::h5 {

using Id = std::int64_t;  ///< hid_t

/// `id` or `status` as it came from an HDF5 call; negative throws a Failure with the innermost reason HDF5 gives.
Id checked(Id id);

/// Closes an HDF5 object on destruction.
class Handle {
 public:
  using Closer = int (*)(Id);
  Handle() = default;
  Handle(Id id, Closer closer) : id_(checked(id)), close_(closer) {}
  ~Handle() { reset(); }
  Handle(Handle&& other) noexcept : id_(std::exchange(other.id_, -1)), close_(other.close_) {}
  Handle& operator=(Handle&& other) noexcept;
  [[nodiscard]] Id get() const { return id_; }
  [[nodiscard]] bool open() const { return id_ >= 0; }
  /// Closes now and throws a Failure when that fails: closing a file writes what was held back.
  void close();

 private:
  void reset() noexcept;
  Id id_ = -1;
  Closer close_ = nullptr;
};

/// Keeps HDF5 from printing its error stack for as long as it lives; the reasons travel in Failure.
class QuietErrors {
 public:
  QuietErrors();
  ~QuietErrors();
  QuietErrors(const QuietErrors&) = delete;
  QuietErrors& operator=(const QuietErrors&) = delete;

 private:
  void* report_ = nullptr;  ///< H5E_auto2_t
  void* data_ = nullptr;
};

}  // namespace tessera::results::h5
