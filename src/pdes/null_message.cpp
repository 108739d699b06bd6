#include "null_message.hpp"

#include <chrono>

namespace tessera::pdes {

namespace {

/// While clocks get on by themselves.
constexpr int most_waves = 8;
/// How far a rank that waits for nobody may run ahead of the slowest, in lookaheads: it bounds the messages on their
/// way.
constexpr Time lookaheads_ahead = 4096;

Time bounded_run(Time from, Time lookahead) {
  return lookahead > never / lookaheads_ahead ? never : saturating_add(from, lookaheads_ahead * lookahead);
}

}  // namespace

NullMessageSynchroniser::NullMessageSynchroniser(MPI_Comm comm, const Wiring& wiring, detail::Kernel& kernel)
    : Synchroniser(wiring, kernel),
      comm_(comm),
      round_(comm_.get(), wiring, kernel),
      clocks_(wiring.in.size(), 0),
      run_ahead_(bounded_run(0, wiring.lookahead)),
      waves_(most_waves) {}

Step NullMessageSynchroniser::exchange(const Standing& mine) {
  const auto start = std::chrono::steady_clock::now();
  if (wave_ == 0) {
    // A consistent cut: the events of all earlier waves have arrived everywhere, and those of this wave are counted by
    // their sender.
    agreement_ = Agreement(mine, kernel_, wiring_.lookahead);
    MPI_Iallreduce(MPI_IN_PLACE, agreement_.values.data(), Agreement::size, MPI_INT64_T, MPI_MIN, comm_.get(),
                   &reduction_);
  }
  exchange_clocks(mine);
  // All ranks look at the result after the same wave, so all leave after the same wave.
  const bool last_wave = ++wave_ == waves_;
  if (last_wave) finish_agreement();
  waiting_seconds_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  messages_ = round_.messages();
  return {std::min(safe_, run_ahead_), last_wave && agreement_.finished(mine.end)};
}

void NullMessageSynchroniser::exchange_clocks(const Standing& mine) {
  const Time earliest_here = std::min(mine.next_event, safe_);
  for (std::size_t k = 0; k < wiring_.out.size(); ++k) {
    promised_[k] = std::max({promised_[k], saturating_add(earliest_here, wiring_.out[k].latency), mine.promise});
    round_.header(k).values[0] = promised_[k];
  }
  round_.begin();
  for (Patience patience; !round_.poll();) patience.pause();
  safe_ = never;
  for (std::size_t k = 0; k < clocks_.size(); ++k) {
    clocks_[k] = std::max(clocks_[k], round_.received(k).values[0]);
    safe_ = std::min(safe_, clocks_[k]);
  }
}

void NullMessageSynchroniser::finish_agreement() {
  Patience patience;
  for (int done = 0; done == 0; patience.pause()) MPI_Test(&reduction_, &done, MPI_STATUS_IGNORE);
  const Time jump = agreement_.horizon(wiring_.lookahead);
  for (Time& clock : clocks_) clock = std::max(clock, jump);
  safe_ = std::max(safe_, jump);
  run_ahead_ = std::max(bounded_run(agreement_.next_event(), wiring_.lookahead), jump);
  choose_waves();
}

// Waves let clocks creep by one lookahead each. Where the earliest event is further from the one before than that, time
// has passed in jumps alone: between agreements nothing is to be had then, as with links of next to no latency. All
// ranks know the same, and so choose alike.
void NullMessageSynchroniser::choose_waves() {
  const Time crept = wiring_.lookahead > never / most_waves ? never : waves_ * wiring_.lookahead;
  const Time reached = agreement_.next_event();
  waves_ = reached - agreed_on_ > crept ? 1 : most_waves;
  agreed_on_ = reached;
  wave_ = 0;
}

}  // namespace tessera::pdes
