// Where the repository lies, for tests that read its inputs and pages.
#pragma once

#include <string>

namespace tessera::test {

[[nodiscard]] std::string source_folder();

}  // namespace tessera::test
