#include "phase.hpp"

#include <algorithm>

namespace tessera::program::search {
namespace {

/// Other ranks tell rank 0 no more often.
constexpr auto between_messages = std::chrono::milliseconds(250);

enum Number : std::size_t { done_number, best_number };

}  // namespace

PhaseProgress::PhaseProgress(News* news, const Hooks& hooks, Phase phase, std::size_t of)
    : news_(news), hooks_(hooks), phase_(phase), of_(of), told_(std::chrono::steady_clock::now()) {
  if (news_ != nullptr) news_->begin();
}

void PhaseProgress::done(std::size_t more, Time time) {
  done_ += more;
  reached_ = 0;
  if (time > 0 && (best_ == 0 || time < best_)) best_ = time;
  tell();
}

void PhaseProgress::at(Time reached) {
  reached_ = reached;
  tell();
}

void PhaseProgress::finish() {
  if (news_ == nullptr) return;
  news_->finish(own(), [this] { show(); });
  show();
}

News::Numbers PhaseProgress::own() const { return {static_cast<std::int64_t>(done_), best_}; }

void PhaseProgress::tell() {
  if (news_ == nullptr) return;
  const auto now = std::chrono::steady_clock::now();
  if (!news_->is_listener() && now - told_ < between_messages) return;
  told_ = now;
  news_->tell(own());
  show();
}

void PhaseProgress::show() {
  if (!news_->is_listener() || !hooks_.progress) return;
  Progress all{phase_, 0, of_};
  for (const News::Numbers& rank : news_->heard()) {
    all.done += static_cast<std::size_t>(rank[done_number]);
    const Time best = rank[best_number];
    if (best > 0 && (all.best == 0 || best < all.best)) all.best = best;
  }
  all.reached = reached_;
  hooks_.progress(all);
}

}  // namespace tessera::program::search
