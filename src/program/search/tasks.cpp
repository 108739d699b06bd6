#include "tasks.hpp"

#include <algorithm>
#include <functional>
#include <limits>
#include <map>
#include <set>

#include "tessera/base/messages.hpp"

namespace tessera::program::search {
namespace {

/// Instructions of a simulation for which another rank is worth what its messages cost.
constexpr std::int64_t worth_a_rank = 100'000;

}  // namespace

std::int64_t length_of(const Program& program) {
  std::map<BlockId, std::int64_t> of_entry;
  Int128 sum = 0;
  for (const DeviceProgram& device : program.devices) {
    for (const BlockId entry : device.streams) {
      const auto [found, added] = of_entry.try_emplace(entry, 0);
      if (added) {
        Int128 length = 0;
        for (const auto& [block, times] : block_runs(program, entry))
          length += static_cast<Int128>(times) * static_cast<Int128>(program.blocks[block].code.size());
        found->second = static_cast<std::int64_t>(std::min<Int128>(length, std::numeric_limits<std::int64_t>::max()));
      }
      sum += found->second;
    }
  }
  return static_cast<std::int64_t>(std::min<Int128>(sum, std::numeric_limits<std::int64_t>::max()));
}

std::vector<Task> different(const std::vector<Task>& tasks) {
  std::set<std::uint64_t> seen;
  std::vector<Task> found;
  for (const Task& task : tasks) {
    if (seen.insert(task.key).second) found.push_back(task);
  }
  return found;
}

std::vector<Task> unknown(Communicator& comm, Memo& memo, const std::vector<Task>& tasks) {
  std::vector<std::uint8_t> knows;
  for (const Task& task : tasks) knows.push_back(memo.find(task.key) == nullptr ? 0 : 1);
  const std::vector<std::vector<std::uint8_t>> all = all_gather(comm, knows);
  std::vector<Known> told;
  std::vector<Task> left;
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    const auto first = std::ranges::find_if(all, [&](const auto& rank) { return rank[i] != 0; }) - all.begin();
    if (first == comm.size()) left.push_back(tasks[i]);
    const bool is_news = std::ranges::any_of(all, [&](const auto& rank) { return rank[i] == 0; });
    if (first == comm.rank() && is_news) told.push_back({tasks[i].key, *memo.find(tasks[i].key)});
  }
  for (Known& one : joined(all_gather(comm, told))) memo.learn(one.key, std::move(one.evaluation));
  std::ranges::stable_sort(left, std::greater(), &Task::length);
  return left;
}

std::vector<std::vector<Task>> dealt(const std::vector<Task>& tasks, std::size_t teams) {
  std::vector<std::vector<Task>> all(teams);
  std::vector<double> load(teams, 0);
  for (const Task& task : tasks) {
    const auto least = static_cast<std::size_t>(std::ranges::min_element(load) - load.begin());
    all[least].push_back(task);
    load[least] += 1 + static_cast<double>(task.length);
  }
  return all;
}

Teams teams_for(const std::vector<Task>& tasks, int ranks, Fidelity fidelity, int most_ranks) {
  const auto all = static_cast<std::size_t>(ranks);
  const std::size_t count = std::min(tasks.size(), all);
  if (fidelity != Fidelity::simulated) return {count, 1};
  const std::int64_t shortest = tasks.back().length;
  const std::size_t worth = static_cast<std::size_t>(shortest / worth_a_rank) + 1;
  return {count, std::min({all / count, worth, static_cast<std::size_t>(most_ranks)})};
}

}  // namespace tessera::program::search
