#include "tessera/base/time.hpp"

#include "tessera/base/error.hpp"

namespace tessera {

void throw_beyond_time() { throw BeyondTimeError(); }

}  // namespace tessera
