#include "formats.hpp"
namespace tessera::experiment::importing {
ImportFormat nemo() {
  return {"nemo", "x", [](const Sources&) { return false; },
          [](const ImportRequest&, const Sources&, Draft&, config::Diagnostics&) {}};
}
}  // namespace tessera::experiment::importing
