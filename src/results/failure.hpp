// Why something could not be read or written, before it is known to whom it will be said.
#pragma once

#include <stdexcept>

namespace tessera::results {

/// what() is the reason for the user ("No space left on device", or HDF5's own words), without the name of the file.
struct Failure : std::runtime_error {
  using std::runtime_error::runtime_error;
};

}  // namespace tessera::results
