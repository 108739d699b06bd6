// How searches and profilers reach the simulator: declared here, implemented in sim/, handed in by the application
// (DESIGN section 2).
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "tessera/base/comm.hpp"
#include "tessera/base/time.hpp"
#include "tessera/program/program.hpp"

namespace tessera::program {

/// How a program's time is found, from the quickest to the truest.
enum class Fidelity : std::uint8_t {
  lower_bound,  ///< never above the simulated time: what each device computes and each link carries, and who waits for
                ///< whom
  estimate,     ///< messages and collectives by their closed forms on an idle network
  simulated,
};
/// "lower-bound", "estimate", "simulated"
[[nodiscard]] const char* name_of(Fidelity fidelity);

/// What a search needs to know of one run.
struct Evaluation {
  bool feasible = false;
  std::string reason;  ///< why not, naming device, amount and cause; nothing else is known then
  Time time = 0;       ///< of the iteration
  /// B, by device. Not simulated, what is certain: see MemoryPeak.
  std::vector<std::int64_t> peak_memory = {};
  std::vector<Time> busy = {};  ///< by device, and for each by Activity; below `simulated` computing alone
  std::vector<std::int64_t> link_bytes = {};  ///< by link; of messages of kernels when simulated alone
  Time interval = 0;  ///< simulated, of a program that repeats: from one to the next in steady state
  /// Devices that compute, which are the first ones; 0: all.
  std::uint32_t accelerators = 0;
  /// Time for the search was over before its end: it takes `time` at least, and nothing else is known. Not feasible,
  /// and never kept.
  bool cut_off = false;

  /// B of the fullest device that computes.
  [[nodiscard]] std::int64_t most_memory() const {
    const auto end = peak_memory.begin() + static_cast<std::ptrdiff_t>(computing());
    return peak_memory.empty() ? 0 : *std::max_element(peak_memory.begin(), end);
  }
  /// Devices that compute.
  [[nodiscard]] std::size_t computing() const { return accelerators == 0 ? peak_memory.size() : accelerators; }
  [[nodiscard]] Time busy_of(DeviceId device, Activity activity) const {
    return busy[std::size_t{device} * (busy.size() / peak_memory.size()) + static_cast<std::size_t>(activity)];
  }
  /// Iterations a second.
  [[nodiscard]] double throughput() const {
    return time > 0 ? static_cast<double>(second) / static_cast<double>(time) : 0;
  }

  template <class Archive>
  void serialize(Archive& archive, unsigned) {
    archive& feasible& reason& time& peak_memory& busy& link_bytes& interval& accelerators;
  }
};

/// Of a simulation that was ended when it had come so far.
[[nodiscard]] inline Evaluation cut_off_at(Time reached) {
  Evaluation found{false, "not finished", reached};
  found.cut_off = true;
  return found;
}

/// What is known of a program before it is simulated.
struct Outlook {
  bool feasible = false;
  bool fits = false;      ///< into the devices' memory; known wherever it is feasible
  std::string reason;     ///< why it is not feasible; nothing else is known then
  Time least = 0;         ///< no simulated time is below it
  Time estimate = 0;      ///< with collectives at their closed forms
  std::int64_t need = 0;  ///< B: of the fullest device, where it does not fit
  bool is_input = false;  ///< what is wrong is the input's fault and not this program's: InputError where it is run
  std::string key = {};   ///< and the key that is to blame, where one is
  bool is_known = true;   ///< false: time for the search was over before it was looked at

  template <class Archive>
  void serialize(Archive& archive, unsigned) {
    archive& feasible& fits& reason& least& estimate& need& is_input& key& is_known;
  }
};

class Evaluator {
 public:
  virtual ~Evaluator() = default;
  /// Quick, and by this rank alone. As it stands, by the two lower fidelities.
  [[nodiscard]] virtual Outlook outlook(const Program& program);
  /// `team`: the ranks that evaluate it together; all of them have the same result. At most most_ranks().
  [[nodiscard]] virtual Evaluation evaluate(const Program& program, Fidelity fidelity, Communicator& team) = 0;
  /// The same of a program that may become the plan, so that what came out of it may be kept.
  [[nodiscard]] virtual Evaluation evaluate_candidate(const Program& program, Fidelity fidelity, Communicator& team) {
    return evaluate(program, fidelity, team);
  }
  /// That one simulation can be spread over.
  [[nodiscard]] virtual int most_ranks() const = 0;
};

}  // namespace tessera::program
