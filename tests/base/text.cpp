#include "tessera/base/text.hpp"

#include <catch2/catch.hpp>

#include "tessera/base/config.hpp"
#include "tessera/base/error.hpp"
#include "tessera/base/utf8.hpp"

using namespace tessera;

TEST_CASE("control characters and what is not UTF-8 are spelt out") {
  CHECK(escaped("a\x1b[31mb\n\tc\x7f") == "a\\u001B[31mb\\n\\tc\\u007F");
  CHECK(escaped(std::string_view("nul\0", 4)) == "nul\\u0000");
  CHECK(escaped("\xc2\x9b"
                "31m") == "\\u009B31m");  // C1: a terminal's CSI in one character
  CHECK(escaped("\xe2\x80\xae"
                "txt") == "\\u202Etxt");                                  // writes from right to left
  CHECK(escaped("\xff\xc3") == "\\xFF\\xC3");                             // no first byte; nothing behind it
  CHECK(escaped("\xc0\xaf\xed\xa0\x80") == "\\xC0\\xAF\\xED\\xA0\\x80");  // overlong; a surrogate
  CHECK(escaped("\xf4\x90\x80\x80") == "\\xF4\\x90\\x80\\x80");           // beyond U+10FFFF
  CHECK(escaped("é 中 𝄞 \"quoted\" \\") == "é 中 𝄞 \"quoted\" \\");
  CHECK(escaped(escaped("a\nb")) == escaped("a\nb"));
  CHECK(is_utf8("é 中 𝄞 \x1b"));
  CHECK(!is_utf8("a\xff"));
}

TEST_CASE("a long line loses its middle, never a part of a character") {
  const std::string short_enough(longest_line, 'x');
  CHECK(one_line(short_enough) == short_enough);
  std::string wide;
  for (int i = 0; i < 1'000'000; ++i) wide += "中";
  const std::string line = one_line("\"key\": unknown choice \"" + wide + "\", allowed: a, b");
  CHECK(line.size() < longest_line);
  CHECK(line.starts_with("\"key\": unknown choice \"中中"));
  CHECK(line.ends_with("中中\", allowed: a, b"));
  CHECK(line.find("\\x") == std::string::npos);
  CHECK(one_line(line) == line);
  CHECK(printable("one\ntwo\x1b\n") == "one\ntwo\\u001B\n");
}

TEST_CASE("whatever is thrown or reported can be printed") {
  CHECK(std::string(InputError("line\nnext \x1b[2J").what()) == "line\nnext \\u001B[2J");
  config::Diagnostics diagnostics;
  diagnostics.error({"a\nb.toml", 1, 2}, "value \"\x1b\n\"");
  CHECK(diagnostics.errors() == std::vector<std::string>{"a\\nb.toml:1:2: value \"\\u001B\\n\""});
}

TEST_CASE("thousands of problems are a hundred lines and a count") {
  config::Diagnostics diagnostics;
  for (int line = 1; line <= 3000; ++line) diagnostics.error({"x.toml", line, 1}, "wrong");
  try {
    diagnostics.throw_if_errors();
    FAIL("nothing is thrown");
  } catch (const InputError& error) {
    CHECK(std::string(error.what()).ends_with("x.toml:100:1: wrong\nand 2900 more"));
  }
}
