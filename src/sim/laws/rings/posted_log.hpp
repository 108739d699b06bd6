// Messages that were posted one after the other, of which several ways have the same ones.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "tessera/base/time.hpp"

namespace tessera::sim {

struct PostedMessage {
  Time at = 0;
  std::int64_t bytes = 0;
  bool operator==(const PostedMessage&) const = default;
};

/// Copies share what they have in common, and so do those that go on alike: a copy costs nothing. A burst may be all
/// messages of a collective, and is kept where a way is marked and by all ways on which the same is sent.
class PostedLog {
 public:
  PostedLog() = default;
  explicit PostedLog(std::vector<PostedMessage> all)
      : all_(std::make_shared<std::vector<PostedMessage>>(std::move(all))), count_(all_->size()) {}

  [[nodiscard]] bool empty() const { return count_ == 0; }
  [[nodiscard]] std::size_t size() const { return count_; }
  [[nodiscard]] std::span<const PostedMessage> all() const {
    return all_ == nullptr ? std::span<const PostedMessage>() : std::span(std::as_const(*all_)).first(count_);
  }
  [[nodiscard]] const PostedMessage& front() const { return all_->front(); }
  [[nodiscard]] const PostedMessage& back() const { return (*all_)[count_ - 1]; }

  void push_back(const PostedMessage& message) {
    if (all_ == nullptr) all_ = std::make_shared<std::vector<PostedMessage>>();
    if (count_ < all_->size()) {  // another copy has gone on
      if ((*all_)[count_] == message) return void(++count_);
      all_ = std::make_shared<std::vector<PostedMessage>>(all().begin(), all().end());
    }
    all_->push_back(message);
    ++count_;
  }
  void clear() {
    if (all_.use_count() > 1) all_ = nullptr;
    if (all_ != nullptr) all_->clear();
    count_ = 0;
  }
  bool operator==(const PostedLog& other) const {
    return count_ == other.count_ && (all_ == other.all_ || std::ranges::equal(all(), other.all()));
  }

 private:
  std::shared_ptr<std::vector<PostedMessage>> all_;
  std::size_t count_ = 0;
};

}  // namespace tessera::sim
