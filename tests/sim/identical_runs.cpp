#include <catch2/catch.hpp>

#include "busy_program.hpp"

using namespace tessera;
using namespace tessera::test;

TEST_CASE("a program with everything in it ends, and every picosecond of every device belongs to one activity") {
  const ProgramCase made = busy_program(3, 4);
  const auto results = made.run().results;
  CHECK(results.device_rows.size() == 12);
  for (const results::DeviceRow& row : results.device_rows) {
    Time sum = 0;
    for (const Time time : row.activity) sum += time;
    CHECK(sum == results.iteration_time);
  }
  Int128 bytes = 0;
  for (const results::DeviceRow& row : results.device_rows) bytes += row.bytes_received;
  Int128 delivered = 0;
  for (const results::LinkRow& row : results.link_rows) delivered += row.to < 12 ? row.bytes : 0;
  CHECK(static_cast<std::int64_t>(delivered - bytes) == 0);
}
