// The constraint solver of section 4.2: domains that propagation keeps, decisions, and a way back. What chip graphs it
// looks for is a template's matter (templates/, a file and a line of built_in.cpp each), because the constraints as
// such leave nothing to propagate: any subgraph of a graph of chips that is its own transitive reduction is valid, and
// with that graph given every edge of the problem is a constraint on two nodes alone.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "chip_set.hpp"
#include "tessera/base/random.hpp"
#include "wiring.hpp"

namespace tessera::strategy::mcm {

/// What solving has taken since the solver was made.
struct Effort {
  std::uint64_t decisions = 0, failures = 0, restarts = 0;
};

class Solver {
 public:
  explicit Solver(const Wiring& wiring) : wiring_(&wiring) {}
  virtual ~Solver() = default;
  Solver(const Solver&) = delete;
  Solver& operator=(const Solver&) = delete;

  /// init_solver() of Algorithms 1 and 2. Templates are drawn from `random`; with a candidate the first one fits it as
  /// well as any.
  void init(const KeyedRandom& random, const Partition* candidate = nullptr);
  /// The chips that a node may still be on: all that some solution with the decisions so far puts it on, and perhaps
  /// others. Never empty. Valid until the next call.
  [[nodiscard]] const ChipSet& get_domain(NodeId node);
  /// A decision. Returns how many stand: one more than before, or fewer when this one or those before it cannot be
  /// met. The last of those that had to go is then known not to work; 0 can also mean that all begins anew, with
  /// another template. A solver always has a solution in the end (all nodes on chip 0, if nothing else).
  std::size_t set_domain(NodeId node, const ChipSet& domain);
  [[nodiscard]] const Effort& effort() const { return effort_; }

  // To enumerate all that a solver can find: template after template, without restarts.
  /// False: there is no template with this index.
  bool list(std::size_t index);
  /// Takes the last decision back as if it could not be met. Returns how many stand.
  std::size_t refute();
  /// No solution is left of a listed template.
  [[nodiscard]] bool exhausted() const { return exhausted_; }

 protected:
  [[nodiscard]] const Wiring& wiring() const { return *wiring_; }

  // The template's part, with nodes by place.
  /// Template of this attempt, all domains as wide as it allows. Attempts never end; from some point on all must
  /// succeed.
  virtual void begin(std::uint32_t attempt, const KeyedRandom& random) = 0;
  /// The template with this index of all; false: there are fewer.
  virtual bool begin_listed(std::size_t index) = 0;
  /// Makes the first attempt one at this candidate.
  virtual void fit(const Partition& candidate) { static_cast<void>(candidate); }
  /// How many decisions are taken back, beside such as fail themselves, before the next attempt begins.
  [[nodiscard]] virtual std::uint32_t patience() const = 0;
  virtual void get(Place place, ChipSet& domain) const = 0;
  /// Takes what is not in `allowed` from a domain, and propagates; false: nothing is left of some domain.
  virtual bool narrow(Place place, const ChipSet& allowed) = 0;
  /// A level of the trail more, and back to where the last one began.
  virtual void push() = 0;
  virtual void pop() = 0;

 private:
  void restart();

  struct Decision {
    Place place = 0;
    ChipSet domain;
  };
  const Wiring* wiring_;
  KeyedRandom random_{0, 0};
  std::vector<Decision> decisions_;
  ChipSet domain_;
  std::uint32_t attempt_ = 0;
  std::uint32_t taken_back_ = 0;  // of this attempt
  bool is_listing_ = false, exhausted_ = false;
  Effort effort_;
};

struct TemplateKind {
  std::string name;
  std::string help;
  std::unique_ptr<Solver> (*make)(const Wiring&);
};

/// In built_in.cpp.
[[nodiscard]] const std::vector<TemplateKind>& template_kinds();
/// The wiring outlives the solver. InputError for an unknown name, with those that there are.
[[nodiscard]] std::unique_ptr<Solver> make_solver(std::string_view name, const Wiring& wiring);

/// All partitions that the solver can find, each at least once. For small problems.
void enumerate(Solver& solver, const Wiring& wiring, const std::function<void(const Partition&)>& visit);

/// Chips that the last resort of attempts may use: all at first, then a quarter fewer each time, at last one, on which
/// everything fits.
[[nodiscard]] std::uint32_t fewer_chips(std::uint32_t chips, std::uint32_t attempt);

}  // namespace tessera::strategy::mcm
