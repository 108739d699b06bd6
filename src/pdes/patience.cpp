#include "patience.hpp"

#include <sched.h>

#include <algorithm>
#include <thread>

namespace tessera::pdes {

void Patience::pause() {
  using namespace std::chrono_literals;
  constexpr int polls_before_yielding = 64;
  if (++polls_ < polls_before_yielding) return;
  const auto now = std::chrono::steady_clock::now();
  if (polls_ == polls_before_yielding) since_ = now;
  const std::chrono::nanoseconds waited = now - since_;
  if (waited < 200us) {
    sched_yield();
  } else {
    std::this_thread::sleep_for(std::clamp<std::chrono::nanoseconds>(waited / 8, 25us, 1ms));
  }
}

}  // namespace tessera::pdes
