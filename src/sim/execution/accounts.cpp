#include "sim/execution/accounts.hpp"

#include <algorithm>
#include <tuple>

namespace tessera::sim {
namespace {

auto key_of(const results::CollectiveRow& row) { return std::tie(row.label, row.kind, row.algorithm, row.group_size); }

}  // namespace

results::CollectiveRow& CollectiveAccount::row(const results::CollectiveRow& key) {
  if (latest_ >= rows_.size() || key_of(rows_[latest_]) != key_of(key)) {
    const auto same = [&](const results::CollectiveRow& row) { return key_of(row) == key_of(key); };
    latest_ = static_cast<std::uint32_t>(std::find_if(rows_.begin(), rows_.end(), same) - rows_.begin());
    if (latest_ == rows_.size())
      rows_.push_back({.label = key.label, .kind = key.kind, .algorithm = key.algorithm, .group_size = key.group_size});
  }
  return rows_[latest_];
}

void CollectiveAccount::add(const CollectiveAccount& other) {
  for (const results::CollectiveRow& more : other.rows_) {
    results::CollectiveRow& row = this->row(more);
    row.calls += more.calls;
    row.bytes += more.bytes;
    row.total += more.total;
    row.longest = std::max(row.longest, more.longest);
    row.waiting += more.waiting;
    row.longest_communication = std::max(row.longest_communication, more.longest_communication);
  }
}

void CollectiveAccount::add(const results::CollectiveRow& key, std::int64_t bytes, Time duration, Time waiting) {
  results::CollectiveRow& row = this->row(key);
  ++row.calls;
  row.bytes += bytes;
  row.total += duration;
  row.longest = std::max(row.longest, duration);
  row.waiting += waiting;
  row.longest_communication = std::max(row.longest_communication, duration - waiting);
}

void CollectiveAccount::repeat(std::uint32_t times) {
  for (results::CollectiveRow& row : rows_) {
    row.calls *= times;
    row.bytes *= times;
    row.total *= times;
    row.waiting *= times;
  }
}

std::vector<results::CollectiveRow> CollectiveAccount::rows() const {
  std::vector<results::CollectiveRow> sorted = rows_;
  std::sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) { return key_of(a) < key_of(b); });
  return sorted;
}

}  // namespace tessera::sim
