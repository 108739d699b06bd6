// How far each rank is: rank 0 hears of it while all are at work, for displays.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "tessera/base/comm.hpp"

namespace tessera {

/// A few numbers that each rank sends to rank 0 every now and then. Nobody waits for them, but at the end of a stretch
/// of work, where rank 0 waits for all.
class News {
 public:
  using Numbers = std::array<std::int64_t, 2>;

  /// On all ranks of `comm`, in the same order as its operations.
  explicit News(Communicator& comm);
  ~News();
  News(const News&) = delete;
  News& operator=(const News&) = delete;

  /// Whether this is rank 0.
  [[nodiscard]] bool is_listener() const { return own_->rank() == 0; }
  /// What this rank has to say now. Never waits: where the last numbers are still on their way, these are left out.
  void tell(const Numbers& numbers);
  /// On rank 0: the latest of each rank in this stretch, zeros of one that has not said anything. Elsewhere its own.
  [[nodiscard]] const std::vector<Numbers>& heard();
  /// The end of a stretch, on all ranks. Rank 0 calls `meanwhile` every now and then until all have come to it.
  void finish(const Numbers& last, const std::function<void()>& meanwhile);
  /// The next one: nothing has been heard.
  void begin();

 private:
  struct Post;
  std::unique_ptr<Communicator> own_;
  std::unique_ptr<Post> post_;  // null: there is one rank alone
  std::vector<Numbers> heard_;  // by rank; elsewhere than on rank 0 the own ones alone
};

}  // namespace tessera
