// What a search asks about programs: on all ranks together, and nothing twice.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "tessera/base/comm.hpp"
#include "tessera/base/news.hpp"
#include "tessera/program/evaluator.hpp"
#include "tessera/program/search/limits.hpp"

namespace tessera::program::search {

/// A hash of all that an evaluation can depend on but the machine and the cost model: names of blocks and labels are
/// not. The same on every computer.
[[nodiscard]] std::uint64_t key_of(const Program& program, Fidelity fidelity);

/// Instructions that all devices execute: what the length of an evaluation is guessed by. At most 2^63 - 1.
[[nodiscard]] std::int64_t length_of(const Program& program);

struct Known {
  std::uint64_t key = 0;
  Evaluation evaluation;

  template <class Archive>
  void serialize(Archive& archive, unsigned) {
    archive& key& evaluation;
  }
};

/// What was evaluated, of one machine, cost model and version of Tessera. It stays true for ever, so nothing but the
/// time that a search takes depends on what is known.
class Memo {
 public:
  /// Null: it is not known. Stays where it is.
  [[nodiscard]] const Evaluation* find(std::uint64_t key) const;
  /// What was evaluated here.
  void add(std::uint64_t key, Evaluation evaluation);
  /// What another rank has evaluated.
  void learn(std::uint64_t key, Evaluation evaluation) { known_.emplace(key, std::move(evaluation)); }
  /// Those that were added, in the order of their keys.
  [[nodiscard]] std::vector<Known> added() const;

  /// All of it that can run, for a file: with a hash by which one that was cut off or changed is recognised. Why others
  /// cannot run names parts of the program, and names are not in its key.
  [[nodiscard]] std::string text() const;
  /// Learns those of such a text. False: it is none, and nothing is learnt.
  bool read(const std::string& text);

 private:
  std::map<std::uint64_t, Evaluation> known_;
  std::set<std::uint64_t> added_;
};

/// What a search is about.
enum class Phase : std::uint8_t {
  listing,     ///< which candidates there are
  judging,     ///< what is known of each without a simulation
  writing,     ///< programs of those that come next
  evaluating,  ///< these
};

/// How far a phase is, on all ranks together.
struct Progress {
  Phase phase = Phase::listing;
  std::size_t done = 0, of = 0;  ///< candidates; of 0: how many there are is not known
  Time best = 0;                 ///< of those that were evaluated in this phase; 0: none
  Time reached = 0;              ///< by the simulation that is under way on rank 0; 0: none is
};

/// What an application hands to the searches of a job, alike on all ranks; both may be empty.
struct Hooks {
  std::function<bool()> interrupted;              ///< polled on every rank; true ends the search (IoError)
  std::function<void(const Progress&)> progress;  ///< on rank 0, whenever something is news, and while it waits
};

class PhaseProgress;
struct Task;
struct Done;

/// The evaluator, the ranks that search together, and what is known; all of it outlives this.
class Evaluations {
 public:
  /// On all ranks together. Of the limits the time alone counts here.
  Evaluations(Evaluator& evaluator, Communicator& comm, Memo& memo, Hooks hooks = {}, const Limits& limits = {});

  [[nodiscard]] Communicator& comm() const { return *comm_; }
  /// IoError when the search is to end. For searches to call, inside together(): ranks learn of it one by one.
  void go_on() const;
  /// Whether the time for the search is over, by this rank's clock: others may be of another opinion.
  [[nodiscard]] bool is_over() const { return limits_.is_over(); }
  /// The same on all ranks: what one of them thinks. All take part.
  [[nodiscard]] bool is_over_somewhere() const;
  /// For whom shows how far the search is: so many candidates are listed, and the evaluation that is under way on this
  /// rank has simulated so much.
  void has_listed(std::size_t candidates) const;
  void has_simulated(Time reached) const;

  /// On this rank, by itself.
  [[nodiscard]] Evaluation one(const Program& program, Fidelity fidelity = Fidelity::simulated) const;

  /// Of one program, on this rank.
  [[nodiscard]] Outlook outlook(const Program& program) const { return evaluator_->outlook(program); }
  /// Of candidates 0 .. count-1, in their order: each looked at by one rank, and the same on all ranks and on any
  /// number of them. `look` is outlook() of a candidate's program, or says without writing it that it cannot run. All
  /// ranks take part; what one of them throws all throw. Where time is over, some are not known: those that are lie
  /// anywhere among the candidates.
  [[nodiscard]] std::vector<Outlook> outlooks(std::size_t count, const std::function<Outlook(std::size_t)>& look) const;

  /// Candidates 0 .. count-1: on all ranks, in the candidates' order, and the same whatever the number of ranks. `make`
  /// writes a candidate's program. The ranks form teams, one for each candidate where there are few and they are long;
  /// long ones come first. All ranks take part; what one of them throws all throw, but for an InternalError or a lack
  /// of memory in a team of several: these end the run. Where time is over, some are cut off, at 0 those not begun.
  /// `most_together`: ranks of a team at most, where simulations are such that ranks would wait for each other.
  [[nodiscard]] std::vector<Evaluation> all(std::size_t count, const std::function<Program(std::size_t)>& make,
                                            Fidelity fidelity = Fidelity::simulated,
                                            int most_together = std::numeric_limits<int>::max()) const;

 private:
  [[nodiscard]] Done evaluate(const std::vector<Task>& tasks, const std::function<Program(std::size_t)>& make,
                              Fidelity fidelity, int most_together) const;

  Evaluator* evaluator_;
  Communicator* comm_;
  Memo* memo_;
  Hooks hooks_;
  Limits limits_;
  std::shared_ptr<News> news_;                  ///< null: nobody shows how far it is
  mutable PhaseProgress* under_way_ = nullptr;  ///< while this rank is at work in all()
};

}  // namespace tessera::program::search
