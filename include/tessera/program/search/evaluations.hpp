// What a search asks about programs: on all ranks together, and nothing twice.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "tessera/base/comm.hpp"
#include "tessera/program/evaluator.hpp"

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

/// How far this rank is with its part of Evaluations::all().
struct Progress {
  std::size_t done = 0, of = 0;  ///< programs
  Time best = 0;                 ///< of those that it has evaluated; 0: none
};

/// What an application hands to the searches of a job; both may be empty.
struct Hooks {
  std::function<bool()> interrupted;              ///< polled on every rank; true ends the search (IoError)
  std::function<void(const Progress&)> progress;  ///< on every rank, after each program
};

/// The evaluator, the ranks that search together, and what is known; all of it outlives this.
class Evaluations {
 public:
  Evaluations(Evaluator& evaluator, Communicator& comm, Memo& memo, Hooks hooks = {})
      : evaluator_(&evaluator), comm_(&comm), memo_(&memo), hooks_(std::move(hooks)) {}

  [[nodiscard]] Communicator& comm() const { return *comm_; }
  /// IoError when the search is to end. For searches to call, inside together(): ranks learn of it one by one.
  void go_on() const;

  /// On this rank, by itself.
  [[nodiscard]] Evaluation one(const Program& program, Fidelity fidelity = Fidelity::simulated) const;

  /// Of one program, on this rank.
  [[nodiscard]] Outlook outlook(const Program& program) const { return evaluator_->outlook(program); }
  /// Of candidates 0 .. count-1, in their order: each looked at by one rank, and the same on all ranks and on any
  /// number of them. `look` is outlook() of a candidate's program, or says without writing it that it cannot run. All
  /// ranks take part; what one of them throws all throw.
  [[nodiscard]] std::vector<Outlook> outlooks(std::size_t count, const std::function<Outlook(std::size_t)>& look) const;

  /// Candidates 0 .. count-1: on all ranks, in the candidates' order, and the same whatever the number of ranks. `make`
  /// writes a candidate's program. The ranks form teams, one for each candidate where there are few and they are long;
  /// long ones come first. All ranks take part; what one of them throws all throw, but for an InternalError or a lack
  /// of memory in a team of several: these end the run.
  [[nodiscard]] std::vector<Evaluation> all(std::size_t count, const std::function<Program(std::size_t)>& make,
                                            Fidelity fidelity = Fidelity::simulated) const;

 private:
  Evaluator* evaluator_;
  Communicator* comm_;
  Memo* memo_;
  Hooks hooks_;
};

}  // namespace tessera::program::search
