#include "patience.hpp"

#include <sched.h>

#include <algorithm>
#include <thread>

namespace tessera::pdes {

// Where ranks outnumber cores a single poll may take as long as all others need for theirs, since MPI itself gives the
// core away: polls say nothing of time then, and the clock is looked at as well.
void Patience::pause() {
  using namespace std::chrono_literals;
  constexpr int polls_before_yielding = 64;
  constexpr int polls_a_look = 8;
  if (++polls_ < polls_before_yielding && polls_ % polls_a_look != 1) return;
  const auto now = std::chrono::steady_clock::now();
  if (polls_ == 1) since_ = now;
  const std::chrono::nanoseconds waited = now - since_;
  if (waited > 200us) {
    std::this_thread::sleep_for(std::clamp<std::chrono::nanoseconds>(waited / 8, 25us, 1ms));
  } else if (polls_ >= polls_before_yielding) {
    sched_yield();
  }
}

}  // namespace tessera::pdes
