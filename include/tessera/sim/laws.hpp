// Laws: what is simulated without an event for each packet and message, with the same results to the picosecond and the
// byte, on any number of ranks (docs/laws.md).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tessera/machine/machine.hpp"
#include "tessera/program/program.hpp"
#include "tessera/results/results.hpp"

namespace tessera::sim {

struct SimulationOptions;

enum class Law : std::uint8_t {
  trains,    ///< packets that follow each other on a link
  rings,     ///< collectives that go round rings on links of their own; stands on trains
  rounds,    ///< rounds of loops that are as those before; stands on trains
  fold,      ///< parts of a program that are alike (SimulationOptions::fold)
  promises,  ///< on several ranks: what a device is known not to send for a while
};

/// Which laws may be used; each is where nothing speaks against it.
class Laws {
 public:
  static const Laws all, none;
  // Words of before, each with what those below it have:
  static const Laws rings, trains;

  [[nodiscard]] constexpr bool has(Law law) const { return (bits_ >> static_cast<unsigned>(law) & 1U) != 0; }
  /// And what it stands on.
  [[nodiscard]] constexpr Laws with(Law law) const {
    Laws more = *this;
    more.bits_ |= 1U << static_cast<unsigned>(law);
    if (law == Law::rings || law == Law::rounds) more.bits_ |= 1U << static_cast<unsigned>(Law::trains);
    return more;
  }
  [[nodiscard]] constexpr bool operator==(const Laws&) const = default;

 private:
  std::uint32_t bits_ = 0;
};
inline constexpr Laws Laws::none{};
inline constexpr Laws Laws::trains = Laws::none.with(Law::trains);
inline constexpr Laws Laws::rings = Laws::trains.with(Law::rings);
inline constexpr Laws Laws::all = Laws::rings.with(Law::rounds).with(Law::fold).with(Law::promises);

/// "all", "none", or names with commas between: "trains, rounds". InputError for a law that there is not.
[[nodiscard]] Laws laws_named(const std::string& text);

/// Of all laws. `not_folded`: why nothing is, as FoldFacts or a result says; empty: it is, or that is not known yet.
[[nodiscard]] std::vector<results::LawUse> uses_of_laws(const machine::Machine& machine,
                                                        const program::Program& program,
                                                        const SimulationOptions& options, int ranks,
                                                        const std::string& not_folded = {});
/// Name and help of each that laws_named() takes, for `tessera help`.
struct LawHelp {
  std::string name, help;
};
[[nodiscard]] std::vector<LawHelp> laws();

}  // namespace tessera::sim
