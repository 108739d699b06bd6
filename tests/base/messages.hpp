// What every communicator has to do.
#pragma once

#include <catch2/catch.hpp>
#include <cstdint>

#include "tessera/base/messages.hpp"

namespace tessera::test {

struct Plain {
  std::int32_t number = 0;
  double real = 0;
  bool operator==(const Plain&) const = default;
};

struct Named {
  std::string name;
  std::vector<Plain> parts;
  bool operator==(const Named&) const = default;

  template <class Archive>
  void serialize(Archive& archive, unsigned) {
    archive& name;
    std::uint64_t count = parts.size();
    archive& count;
    parts.resize(count);
    for (Plain& part : parts) archive& part.number& part.real;
  }
};

/// Rank r has r letters, so rank 0 none.
inline std::string letters(int rank) {
  return std::string(static_cast<std::size_t>(rank), static_cast<char>('a' + rank));
}
inline Named named(int rank) {
  return {letters(rank), std::vector<Plain>(static_cast<std::size_t>(rank), {rank, 0.5})};
}

template <class T, class Make>
void check_messages(Communicator& comm, const Make& make) {
  const int rank = comm.rank();
  CHECK(broadcast<T>(comm, make(rank)) == make(0));
  std::vector<T> all;
  for (int i = 0; i < comm.size(); ++i) all.push_back(make(i));
  CHECK(all_gather<T>(comm, make(rank)) == all);
  CHECK(gather<T>(comm, make(rank)) == (rank == 0 ? all : std::vector<T>()));
  // Rank r has the value of r + s for rank s, so both have the same for each other.
  std::vector<T> sums;
  for (int i = 0; i < comm.size(); ++i) sums.push_back(make(i + rank));
  CHECK(all_to_all<T>(comm, sums) == sums);
  // Rank r has its own value for all.
  CHECK(all_to_all<T>(comm, std::vector<T>(static_cast<std::size_t>(comm.size()), make(rank))) == all);
}

inline void check_communicator(Communicator& comm) {
  check_messages<std::string>(comm, letters);
  check_messages<std::string>(
      comm, [](int rank) { return letters(std::max(0, 3 - rank)); });  // also a text that only rank 0 has
  check_messages<std::int64_t>(comm, [](int rank) { return std::int64_t{1} << (40 + rank); });
  check_messages<Plain>(comm, [](int rank) { return Plain{rank, 0.25}; });
  check_messages<std::vector<Plain>>(comm, [](int rank) {
    return std::vector<Plain>(static_cast<std::size_t>(rank), {rank, 1});
  });
  check_messages<std::vector<std::string>>(comm, [](int rank) {
    return std::vector<std::string>{letters(rank), "", "x"};
  });
  check_messages<Named>(comm, named);
  check_messages<std::vector<Named>>(comm, [](int rank) { return std::vector<Named>(2, named(rank)); });
  // Behind each other: 1 + 2 + .. of them.
  const auto ranks = static_cast<std::size_t>(comm.size());
  // Two teams of neighbours: a team's ranks are those of its half of the world, in order.
  if (comm.size() > 1) {
    const int half = comm.size() / 2, team = comm.rank() < half ? 0 : 1;
    const std::unique_ptr<Communicator> part = comm.split(team);
    CHECK(part->size() == (team == 0 ? half : comm.size() - half));
    CHECK(part->rank() == comm.rank() - team * half);
    CHECK(part->sum(comm.rank()) ==
          (team == 0 ? half * (half - 1) / 2 : comm.size() * (comm.size() - 1) / 2 - half * (half - 1) / 2));
  } else {
    CHECK(comm.split(3)->size() == 1);
  }
  CHECK(joined(all_gather(comm, std::vector<int>(static_cast<std::size_t>(comm.rank()) + 1, 7))).size() ==
        ranks * (ranks + 1) / 2);
}

}  // namespace tessera::test
