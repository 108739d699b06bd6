#include "interrupts.hpp"

#include <array>
#include <csignal>

namespace tessera::app {
namespace {

// A signal handler reaches nothing but static storage.
volatile std::sig_atomic_t seen = 0;

void note(int signal) {
  if (seen != 0) {
    std::signal(signal, SIG_DFL);
    std::raise(signal);
  }
  seen = 1;
}

}  // namespace

void catch_interrupts() {
  struct sigaction action {};
  action.sa_handler = note;
  action.sa_flags = SA_RESTART;
  for (const int signal : std::array{SIGTERM, SIGINT, SIGHUP}) sigaction(signal, &action, nullptr);
}

bool interrupted() { return seen != 0; }

}  // namespace tessera::app
