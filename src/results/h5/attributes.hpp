// Attributes of a finished file, whoever wrote it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "handle.hpp"

namespace tessera::results::h5 {

/// Integers of an attribute of `most` at most; none when it is something else. Failure when there is no attribute, here
/// and below.
[[nodiscard]] std::vector<std::int64_t> integers(Id object, const char* name, std::size_t most);
/// Empty when the attribute is no text.
[[nodiscard]] std::string text_of(Id object, const char* name);
/// A list of texts as Tessera writes them; none when it is something else, or not `count` of them.
[[nodiscard]] std::vector<std::string> texts_of(Id object, const char* name, std::size_t count);

}  // namespace tessera::results::h5
