#include "source_folder.hpp"

namespace tessera::test {

std::string source_folder() { return TESSERA_SOURCE_DIR; }

}  // namespace tessera::test
