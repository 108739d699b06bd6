// What a batch of candidates comes to: programs that are still to be evaluated, shared out to teams of ranks.
#pragma once

#include <cstdint>
#include <vector>

#include "tessera/base/comm.hpp"
#include "tessera/program/search/evaluations.hpp"

namespace tessera::program::search {

struct Task {
  std::uint64_t key = 0;
  std::int64_t length = 0;
  std::size_t candidate = 0;
};

/// An evaluation that was cut off, at 0 before it began.
struct CutOff {
  std::uint64_t key = 0;
  Time reached = 0;
};

/// What a rank has evaluated, or begun to.
struct Done {
  std::vector<Known> known;
  std::vector<CutOff> cut_off;
};

/// Each key once.
[[nodiscard]] std::vector<Task> different(const std::vector<Task>& tasks);
/// Those that no rank knows, the longest first. What some rank knows all ranks are told.
[[nodiscard]] std::vector<Task> unknown(Communicator& comm, Memo& memo, const std::vector<Task>& tasks);
/// Which team takes which tasks: the longest that is left goes to the team that has the least to do.
[[nodiscard]] std::vector<std::vector<Task>> dealt(const std::vector<Task>& tasks, std::size_t teams);

/// As many teams as tasks, or as ranks; fewer ranks take part where a team's would have too little to do.
struct Teams {
  std::size_t count = 1, ranks_each = 1;
};
[[nodiscard]] Teams teams_for(const std::vector<Task>& tasks, int ranks, Fidelity fidelity, int most_ranks);

}  // namespace tessera::program::search
