// Text that somebody else wrote (a value, a key, the name of a file) on its way into a message.
#pragma once

#include <string>
#include <string_view>

namespace tessera {

/// Characters of the longest line of a message; what is longer loses its middle.
inline constexpr std::size_t longest_line = 2000;

/// Control characters (new lines too) and bytes that are not UTF-8 as \n, \t, \u001B, \xFF: one line that no terminal
/// obeys. Everything else stays as it is.
[[nodiscard]] std::string escaped(std::string_view text);

/// Escaped, and without its middle where it is longer than longest_line.
[[nodiscard]] std::string one_line(std::string_view text);

/// Each line of a text by itself as one_line().
[[nodiscard]] std::string printable(std::string_view text);

}  // namespace tessera
