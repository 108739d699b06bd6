#include "formats.hpp"
namespace tessera::experiment::importing {
ImportFormat hugging_face() {
  return {"hugging_face", "x", [](const Sources&) { return false; },
          [](const ImportRequest&, const Sources&, Draft&, config::Diagnostics&) {}};
}
}  // namespace tessera::experiment::importing
