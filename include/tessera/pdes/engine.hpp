// Runs a model on all ranks until no event is left.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "tessera/base/comm.hpp"
#include "tessera/pdes/model.hpp"
#include "tessera/pdes/partition.hpp"

namespace tessera::pdes {

/// A snapshot for progress displays, on rank 0.
struct ProgressReport {
  Time now = 0;
  std::uint64_t events = 0;  ///< of rank 0 so far
  std::uint64_t rounds = 0;
  double wall_seconds = 0;
  double waiting_seconds = 0;
};

class Engine;
using SendWatch = detail::SendWatch;

/// The moment between two events of a run, for models that know what comes next.
class Pause {
 public:
  explicit Pause(Engine& engine) : engine_(&engine) {}
  [[nodiscard]] Time now() const;
  /// All pending events of this rank, in their order, until the end of the pause. Times that their messages speak of
  /// may be changed, but nothing else of them.
  [[nodiscard]] std::vector<Event*> pending() const;
  /// All pending events take place later by as much, and now is later by as much: for a model that has put its
  /// components into the state that they would have then. On one rank only; the end of time is not looked at.
  void skip(Time by);
  /// The same of those pending events for which it is true, while now stays: for parts of a model that have nothing to
  /// do with the others for so long. With a negative `by` they take place earlier, maybe before now: then before all
  /// others.
  void skip(Time by, const std::function<bool(const Event&)>& of);
  /// Null: nobody is told any more.
  void watch(SendWatch* watch);

 private:
  Engine* engine_;
};

struct RunOptions {
  std::string synchroniser = "window";                  ///< see synchroniser_kinds()
  Time end = never;                                     ///< events at or after this time are not handled
  std::function<void(const ProgressReport&)> progress;  ///< rank 0, a few times a second; may be empty
  std::function<bool()> interrupted;  ///< polled between rounds on every rank; true ends all ranks (IoError)
  std::function<void(Pause&)> pause;  ///< behind events that have asked for it (Context::ask_for_pause)
  std::function<bool()> is_over;      ///< polled likewise; true ends all ranks where they are, without an error
};

/// What one rank did. None of it may enter a result other than /provenance.
struct RunStatistics {
  std::uint64_t events = 0;    ///< that were handled
  std::uint64_t skips = 0;     ///< see Pause::skip
  std::uint64_t rounds = 0;    ///< synchronisation rounds (windows, or waves of null messages)
  std::uint64_t messages = 0;  ///< events that left for another rank
  double wall_seconds = 0;
  double waiting_seconds = 0;  ///< in synchronisation, waiting for others
  Time last_event = 0;
  bool cut_off = false;  ///< by RunOptions::is_over, on all ranks: events are left
};

[[nodiscard]] std::vector<std::string> synchroniser_kinds();

/// A model on its ranks: construct on every rank, then run() on every rank.
class Simulation {
 public:
  Simulation(const ModelGraph& model, const Partition& partition, Communicator& comm);
  ~Simulation();
  Simulation(const Simulation&) = delete;
  Simulation& operator=(const Simulation&) = delete;

  /// Runs until no event is pending anywhere. An Error thrown by a component ends the run on every rank: the one with
  /// the smallest (time, component id) is thrown on all of them, whatever the rank count. After a run to an earlier end
  /// another run() goes on from there.
  RunStatistics run(const RunOptions& options);

  /// This rank's components, in order of id; to collect results after the run.
  [[nodiscard]] const std::vector<ComponentId>& local_ids() const;
  [[nodiscard]] Component& local(std::size_t index);

  /// Copies of all pending events of this rank, in their order; good until the next run.
  [[nodiscard]] std::vector<Event> pending();

  // For a model that has moved parts of itself (Pause), from inside of an event:
  [[nodiscard]] Pause pause() { return Pause(*engine_); }
  /// Handles the pending events that come before the one that is being handled.
  void catch_up();

 private:
  friend class SideBySide;
  std::unique_ptr<Engine> engine_;
};

}  // namespace tessera::pdes
