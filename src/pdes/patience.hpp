// How a rank waits for others.
#pragma once

#include <chrono>

namespace tessera::pdes {

/// To be called between polls. At first it polls again at once: on free cores an answer takes microseconds. Then it
/// gives the core away, so that more ranks than cores get on. Then it sleeps for a fraction of the time waited so far:
/// where others compete for the cores, a rank that polls uses up its share of them and is not run when its message
/// comes; one that slept is, at once.
class Patience {
 public:
  void pause();

 private:
  int polls_ = 0;
  std::chrono::steady_clock::time_point since_;
};

}  // namespace tessera::pdes
