#include "formats.hpp"
namespace tessera::experiment::importing {
ImportFormat calculon() {
  return {"calculon", "x", [](const Sources&) { return false; },
          [](const ImportRequest&, const Sources&, Draft&, config::Diagnostics&) {}};
}
}  // namespace tessera::experiment::importing
