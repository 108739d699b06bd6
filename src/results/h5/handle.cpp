#include "handle.hpp"

#include <hdf5.h>

#include <string>
#include <type_traits>

namespace tessera::results::h5 {
namespace {

static_assert(std::is_same_v<hid_t, Id>, "HDF5 1.10 or later");

herr_t keep_innermost(unsigned depth, const H5E_error2_t* error, void* text) {
  if (depth == 0 && error->desc != nullptr) *static_cast<std::string*>(text) = error->desc;
  return 0;
}

/// HDF5 buries the system's reason: "file write failed: ..., errno = 28, error message = 'No space left on device',
/// ...".
std::string system_reason(const std::string& description) {
  const std::string mark = "error message = '";
  const auto begin = description.find(mark);
  if (begin == std::string::npos) return description;
  const auto end = description.find('\'', begin + mark.size());
  return description.substr(begin + mark.size(), end - begin - mark.size());
}

std::string last_reason() {
  std::string description;
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, keep_innermost, &description);
  return description.empty() ? "HDF5 gives no reason" : system_reason(description);
}

}  // namespace

Id checked(Id id) {
  if (id < 0) throw Failure(last_reason());
  return id;
}

Handle& Handle::operator=(Handle&& other) noexcept {
  if (this != &other) {
    reset();
    id_ = std::exchange(other.id_, -1);
    close_ = other.close_;
  }
  return *this;
}

void Handle::close() {
  if (open()) checked(close_(std::exchange(id_, -1)));
}

void Handle::reset() noexcept {
  if (open()) close_(std::exchange(id_, -1));
}

QuietErrors::QuietErrors() {
  // All that Tessera opens it closes itself. What a damaged file leaves open inside HDF5 cannot be closed, and HDF5
  // says so at the end of the process, or crashes. Without effect where HDF5 runs already.
  H5dont_atexit();
  H5E_auto2_t report = nullptr;
  H5Eget_auto2(H5E_DEFAULT, &report, &data_);
  report_ = reinterpret_cast<void*>(report);
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
}

QuietErrors::~QuietErrors() { H5Eset_auto2(H5E_DEFAULT, reinterpret_cast<H5E_auto2_t>(report_), data_); }

}  // namespace tessera::results::h5
