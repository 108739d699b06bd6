// Results of several ranks beside those of one.
#pragma once

#include <catch2/catch.hpp>

#include "tessera/base/comm.hpp"
#include "tessera/results/results.hpp"

namespace tessera::test {

/// Each row of this rank is one of the serial run's; together the ranks have as many.
template <class Row>
void check_rows(const std::vector<Row>& mine, const std::vector<Row>& serial, Communicator& comm) {
  std::size_t at = 0;
  for (const Row& row : mine) {
    while (at < serial.size() && serial[at] != row) ++at;
    REQUIRE(at < serial.size());
    ++at;
  }
  CHECK(comm.sum(static_cast<std::int64_t>(mine.size())) == static_cast<std::int64_t>(serial.size()));
}

/// A sum of this small program in 64 bits.
inline std::int64_t small(Int128 sum) { return static_cast<std::int64_t>(sum); }

inline void check_collectives(const results::RunResults& mine, const results::RunResults& serial, Communicator& comm) {
  for (const results::CollectiveRow& row : serial.collective_rows) {
    results::CollectiveRow part;
    for (const results::CollectiveRow& own : mine.collective_rows) {
      if (own.label == row.label && own.kind == row.kind && own.algorithm == row.algorithm &&
          own.group_size == row.group_size) {
        part = own;
      }
    }
    CHECK(comm.sum(part.calls) == row.calls);
    CHECK(comm.sum(small(part.bytes)) == small(row.bytes));
    CHECK(comm.sum(small(part.total)) == small(row.total));
    CHECK(comm.max(part.longest) == row.longest);
    CHECK(comm.sum(small(part.waiting)) == small(row.waiting));
    CHECK(comm.max(part.longest_communication) == row.longest_communication);
  }
}

/// Times, bytes and sums of the serial run.
inline void check_same_on_ranks(const results::RunResults& mine, const results::RunResults& serial,
                                Communicator& comm) {
  CHECK(mine.iteration_time == serial.iteration_time);
  check_rows(mine.device_rows, serial.device_rows, comm);
  check_rows(mine.memory_rows, serial.memory_rows, comm);
  check_rows(mine.link_rows, serial.link_rows, comm);
  check_rows(mine.intervals.rows(), serial.intervals.rows(), comm);
  check_rows(mine.memory_changes, serial.memory_changes, comm);
  check_collectives(mine, serial, comm);
}

}  // namespace tessera::test
