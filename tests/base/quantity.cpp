#include <catch2/catch.hpp>
#include <cctype>

#include "tessera/base/config.hpp"
#include "tessera/base/error.hpp"
#include "tessera/base/time.hpp"

using namespace tessera;
using namespace tessera::config;

namespace {

std::int64_t parsed(const std::string& text, Unit unit) {
  std::string problem;
  const auto value = parse_quantity(text, unit, problem);
  INFO(text << ": " << problem);
  REQUIRE(value);
  return *value;
}

std::string refused(const std::string& text, Unit unit) {
  std::string problem;
  INFO(text);
  REQUIRE_FALSE(parse_quantity(text, unit, problem));
  return problem;
}

}  // namespace

TEST_CASE("quantities are exact integers of their base unit") {
  CHECK(parsed("150 GB/s", Unit::bandwidth) == 150'000'000'000);
  CHECK(parsed("1.5 TB/s", Unit::bandwidth) == 1'500'000'000'000);
  CHECK(parsed("0.5 us", Unit::time) == 500'000);
  CHECK(parsed("500ns", Unit::time) == 500'000);
  CHECK(parsed("2 min", Unit::time) == 120 * second);
  CHECK(parsed("96 GiB", Unit::bytes) == 96LL << 30);
  CHECK(parsed("80 GB", Unit::bytes) == 80'000'000'000);
  CHECK(parsed("312 TFLOP/s", Unit::compute) == 312'000'000'000'000);
  CHECK(parsed("1410 MHz", Unit::frequency) == 1'410'000'000);
  CHECK(parsed("21.92 mm", Unit::length) == 21'920);
  CHECK(parsed("19.8 cm", Unit::length) == 198'000);
  CHECK(parsed("1e3 ns", Unit::time) == 1'000'000);
  CHECK(parsed("-5 GB/s", Unit::bandwidth) == -5'000'000'000);
  CHECK(parsed("0 B", Unit::bytes) == 0);
  CHECK(parsed("0.0 ps", Unit::time) == 0);
  CHECK(parsed("1000000000000000000 ps", Unit::time) == 1'000'000'000'000'000'000);
  CHECK(parsed("9223372036854775807 B", Unit::bytes) == 9'223'372'036'854'775'807);
  CHECK(parsed("100.50 ns", Unit::time) == 100'500);
}

TEST_CASE("a bit is an eighth of a byte") {
  // 200 Gb/s is 200 x 10^9 / 8 bytes a second.
  CHECK(parsed("200 Gb/s", Unit::bandwidth) == 25'000'000'000);
  CHECK(refused("1 b/s", Unit::bandwidth) == "\"1 b/s\" is not a whole number of bytes per second");
}

TEST_CASE("bits and bytes a second are what they say, however they are written") {
  // 400 x 10^9 bits are 50 x 10^9 bytes; 400 x 2^30 bits are 50 x 2^30 bytes.
  for (const char* text :
       {"400 Gb/s", "400 Gbps", "400 Gbit/s", "400 Gbits/s", "400Gbps", "0.4 Tbps", "0.4 Tbit/s", "400000 Mbps",
        "400000 Mbit/s", "4e8 kbps", "4e8 kbit/s", "4e11 bps", "4e11 bit/s", "0.0004 Pbit/s", "50 GBps", "50 GB/s"}) {
    CHECK(parsed(text, Unit::bandwidth) == 50'000'000'000);
  }
  for (const char* text : {"400 Gib/s", "400 Gibps", "400 Gibit/s", "50 GiBps", "50 GiB/s"}) {
    CHECK(parsed(text, Unit::bandwidth) == 50LL << 30);
  }
  // A micro sign, a Greek letter mu, and what stands in for both.
  CHECK(parsed("5 us", Unit::time) == 5'000'000);
  CHECK(parsed("5 \xC2\xB5s", Unit::time) == 5'000'000);
  CHECK(parsed("5 \xCE\xBCs", Unit::time) == 5'000'000);
}

TEST_CASE("a size in bits is refused with what it is in bytes") {
  CHECK(refused("16 Gb", Unit::bytes) == "\"16 Gb\" is a size in bits, expected a size in bytes: \"2 GB\"");
  CHECK(refused("16 Gbit", Unit::bytes) == "\"16 Gbit\" is a size in bits, expected a size in bytes: \"2 GB\"");
  CHECK(refused("16 Gib", Unit::bytes) == "\"16 Gib\" is a size in bits, expected a size in bytes: \"2 GiB\"");
  CHECK(refused("3 b", Unit::bytes) == "\"3 b\" is a size in bits, expected a size such as \"96 GiB\"");
  CHECK(refused("400 Gb", Unit::bandwidth) ==
        "\"400 Gb\" is a size in bits, expected a bandwidth such as \"150 GB/s\"");
  CHECK(refused("400 Gbps", Unit::bytes) == "\"400 Gbps\" is a bandwidth, expected a size such as \"96 GiB\"");
}

TEST_CASE("what is suggested for a unit is never another amount") {
  const auto suggested = [](const std::string& unit, Unit dimension) {
    const std::string text = refused("7 " + unit, dimension);
    const std::size_t begin = text.find("did you mean ");
    return begin == std::string::npos ? "" : text.substr(begin + 13, text.find("?)") - begin - 13);
  };
  // Bits for certain, bytes for certain, and either of them.
  CHECK(suggested("gbit/s", Unit::bandwidth) == "\"Gb/s\"");
  CHECK(suggested("GBIT/S", Unit::bandwidth) == "\"Gb/s\"");
  CHECK(suggested("Gbit/sec", Unit::bandwidth) == "\"Gb/s\"");
  CHECK(suggested("Kb/s", Unit::bandwidth) == "\"kb/s\"");
  CHECK(suggested("Kbps", Unit::bandwidth) == "\"kb/s\"");
  CHECK(suggested("GByte/s", Unit::bandwidth) == "\"GB/s\"");
  CHECK(suggested("Gbytes/sec", Unit::bandwidth) == "\"GB/s\"");
  CHECK(suggested("GB/sec", Unit::bandwidth) == "\"GB/s\"");
  CHECK(suggested("GB/S", Unit::bandwidth) == "\"GB/s\" or \"Gb/s\"");
  CHECK(suggested("gb/s", Unit::bandwidth) == "\"GB/s\" or \"Gb/s\"");
  CHECK(suggested("gbps", Unit::bandwidth) == "\"GB/s\" or \"Gb/s\"");
  CHECK(suggested("gB/s", Unit::bandwidth) == "\"GB/s\"");
  CHECK(suggested("GiB/z", Unit::bandwidth) == "\"GiB/s\"");
  // Another prefix, or another quantity, is no slip.
  CHECK(suggested("EB/s", Unit::bandwidth).empty());
  CHECK(suggested("MT/s", Unit::bandwidth).empty());
  CHECK(suggested("XFLOP/s", Unit::compute).empty());
  CHECK(suggested("fs", Unit::time).empty());
  CHECK(suggested("m", Unit::time).empty());
  // 1,000 or 1,024.
  CHECK(suggested("KB", Unit::bytes) == "\"kB\" or \"KiB\"");
  CHECK(suggested("KB/s", Unit::bandwidth) == "\"kB/s\" or \"KiB/s\"");
  CHECK(suggested("G", Unit::bytes) == "\"GB\" or \"GiB\"");
  CHECK(suggested("Gi", Unit::bytes) == "\"GiB\"");
  CHECK(suggested("gib", Unit::bytes) == "\"GiB\"");
  CHECK(suggested("gb", Unit::bytes) == "\"GB\"");
  // Other spellings of the same.
  for (const char* unit : {"TFLOPS", "TFLOPs", "TFLOP", "tflops", "TFlop/s", "TFLOPS/s", "TOPS", "TOP/s", "TFLPO/s"})
    CHECK(suggested(unit, Unit::compute) == "\"TFLOP/s\"");
  CHECK(suggested("Ghz", Unit::frequency) == "\"GHz\"");
  CHECK(suggested("msec", Unit::time) == "\"ms\"");
  CHECK(suggested("usecs", Unit::time) == "\"us\"");
  CHECK(suggested("seconds", Unit::time) == "\"s\"");
  CHECK(suggested("minutes", Unit::time) == "\"min\"");
  CHECK(suggested(std::string(100'000, 'G'), Unit::bytes).empty());
}

TEST_CASE("every unit that is accepted is named where somebody writes it in small letters") {
  for (const Unit unit : {Unit::time, Unit::bytes, Unit::bandwidth, Unit::compute, Unit::frequency, Unit::length}) {
    for (const std::string& suffix : unit_suffixes(unit)) {
      std::string small = suffix;
      for (char& c : small) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
      std::string problem;
      if (parse_quantity("8 " + small, unit, problem)) continue;
      CAPTURE(suffix, problem);
      CHECK(problem.find(suffix + "\"") != std::string::npos);
    }
  }
}

TEST_CASE("quantities that are not exact, not whole or of another dimension are refused with what is expected") {
  CHECK(refused("0.3 ps", Unit::time) == "\"0.3 ps\" is not a whole number of picoseconds");
  CHECK(refused("1e-40 s", Unit::time) == "\"1e-40 s\" is not a whole number of picoseconds");
  CHECK(refused("1e-400 s", Unit::time) == "\"1e-400 s\" is not a whole number of picoseconds");
  CHECK(refused("12abc GB/s", Unit::bandwidth) ==
        "\"12abc GB/s\" has the unknown unit \"abc GB/s\", expected a bandwidth such as \"150 GB/s\"");
  CHECK(refused("150 GB", Unit::bandwidth) == "\"150 GB\" is a size, expected a bandwidth such as \"150 GB/s\"");
  CHECK(refused("150 GB/s", Unit::bytes) == "\"150 GB/s\" is a bandwidth, expected a size such as \"96 GiB\"");
  CHECK(refused("150", Unit::bandwidth) == "\"150\" has no unit, expected a bandwidth such as \"150 GB/s\"");
  CHECK(refused("", Unit::time) == "\"\" does not start with a number, expected a time such as \"500 ns\"");
  CHECK(refused("fast", Unit::time) == "\"fast\" does not start with a number, expected a time such as \"500 ns\"");
  CHECK(refused("312 TFLOPs", Unit::compute) ==
        "\"312 TFLOPs\" has the unknown unit \"TFLOPs\" (did you mean \"TFLOP/s\"?), expected a compute rate such as "
        "\"312 TFLOP/s\"");
  CHECK(refused("1e30 s", Unit::time) == "\"1e30 s\" is too large, at most 9223372036854775807 picoseconds");
  CHECK(refused("1e400 s", Unit::time) == "\"1e400 s\" is too large, at most 9223372036854775807 picoseconds");
  CHECK(refused("9223372036854775808 B", Unit::bytes) ==
        "\"9223372036854775808 B\" is too large, at most 9223372036854775807 bytes");
  CHECK(refused("1.2.3 ns", Unit::time) ==
        "\"1.2.3 ns\" has the unknown unit \".3 ns\", expected a time such as \"500 ns\"");
  CHECK(refused("1. ns", Unit::time) == "\"1. ns\" has the unknown unit \". ns\", expected a time such as \"500 ns\"");
}

TEST_CASE("printing takes the largest unit that stays a whole number, and reads back as the same integer") {
  CHECK(format_quantity(150'000'000'000, Unit::bandwidth) == "150 GB/s");
  CHECK(format_quantity(2'039'000'000'000, Unit::bandwidth) == "2039 GB/s");
  CHECK(format_quantity(500'000, Unit::time) == "500 ns");
  CHECK(format_quantity(80'000'000'000, Unit::bytes) == "80 GB");
  CHECK(format_quantity(96LL << 30, Unit::bytes) == "96 GiB");
  CHECK(format_quantity(1'024'000, Unit::bytes) == "1024 kB");
  CHECK(format_quantity(0, Unit::bytes) == "0 B");
  for (const Unit unit : {Unit::time, Unit::bytes, Unit::bandwidth, Unit::compute, Unit::frequency, Unit::length}) {
    for (const std::int64_t value :
         {1LL, 7LL, 1000LL, 1024LL, 12'345'678'901LL, 3LL << 40, 9'223'372'036'854'775'807LL, -2000LL}) {
      CHECK(parsed(format_quantity(value, unit), unit) == value);
    }
  }
}

TEST_CASE("rounded figures have three significant digits") {
  CHECK(format_rounded(18'130'000'000'000, Unit::time) == "18.1 s");
  CHECK(format_rounded(1'320'456'000, Unit::time) == "1.32 ms");
  CHECK(format_rounded(74'230'000'000, Unit::bytes) == "74.2 GB");
  CHECK(format_rounded(999, Unit::time) == "999 ps");
  CHECK(format_rounded(999'600, Unit::time) == "1.00 us");
  CHECK(format_rounded(0, Unit::bytes) == "0 B");
}

TEST_CASE("suggestions are near, and nothing is suggested otherwise") {
  const std::vector<std::string> keys{"bandwidth", "latency", "tensor", "pipeline"};
  CHECK(did_you_mean("bandwith", keys) == "bandwidth");
  CHECK(did_you_mean("Latency", keys) == "latency");
  CHECK(did_you_mean("tesnor", keys) == "tensor");
  CHECK(did_you_mean("pipe", keys) == "pipeline");
  CHECK(did_you_mean("colour", keys).empty());
  CHECK(did_you_mean("x", keys).empty());
  CHECK(did_you_mean(std::string(10'000'000, 't'), keys).empty());  // at once, without gigabytes
}

TEST_CASE("durations at a rate round up to a picosecond") {
  // 1 byte at 3 B/s takes a third of a second: 333,333,333,333.33 ps, rounded up.
  CHECK(duration_at_rate(Bytes{1}, BytesPerSecond{3}) == 333'333'333'334);
  CHECK(duration_at_rate(Bytes{4096}, BytesPerSecond{150'000'000'000}) == 27'307);
  CHECK(duration_at_rate(Bytes{0}, BytesPerSecond{1}) == 0);
  CHECK(saturating_add(never - 1, 5) == never);
}

TEST_CASE("the last picosecond is 2^63 - 2, and what goes beyond it is refused") {
  STATIC_REQUIRE(latest == 9'223'372'036'854'775'806);
  CHECK(time_after(latest - 1, 1) == latest);
  CHECK(time_after(0, latest) == latest);
  CHECK_THROWS_AS(time_after(latest, 1), BeyondTimeError);
  CHECK_THROWS_AS(time_after(latest, latest), BeyondTimeError);  // 2^64 - 4 would wrap to -4
  // 2^63 - 2 = 2 x 4,611,686,018,427,387,903; 2^63 - 1 is divided by 7.
  CHECK(repeated(2, 4'611'686'018'427'387'903) == latest);
  CHECK(repeated(0, never) == 0);
  CHECK_THROWS_AS(repeated(7, 1'317'624'576'693'539'401), BeyondTimeError);
  CHECK_THROWS_AS(repeated(1'000'000'000, second), BeyondTimeError);
  CHECK(saturating_times(7, 1'317'624'576'693'539'401) == never);
  CHECK(saturating_times(3, never) == never);
  CHECK(saturating_times(0, never) == 0);
  CHECK(saturating_times(3, 5) == 15);
  // 9,223,372 s fit, 9,223,373 s do not.
  CHECK(duration_at_rate(Bytes{9'223'372}, BytesPerSecond{1}) == 9'223'372 * second);
  CHECK(duration_at_rate(Bytes{9'223'373}, BytesPerSecond{1}) == never);
}
