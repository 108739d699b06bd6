#include "tessera/sim/laws.hpp"

#include <array>
#include <sstream>
#include <utility>

#include "sim/laws/law.hpp"
#include "tessera/base/config.hpp"
#include "tessera/base/error.hpp"

namespace tessera::sim {
namespace {

const std::vector<LawKind>& law_kinds() {
  static const std::vector<LawKind> kinds{trains_law(), rings_law(), rounds_law(), fold_law(), promises_law()};
  return kinds;
}

constexpr std::array names{std::pair{"trains", Law::trains}, std::pair{"rings", Law::rings},
                           std::pair{"rounds", Law::rounds}, std::pair{"fold", Law::fold},
                           std::pair{"promises", Law::promises}};

Law law_named(const std::string& word) {
  std::vector<std::string> choices{"all", "none"};
  for (const auto& [name, law] : names) {
    if (word == name) return law;
    choices.emplace_back(name);
  }
  throw InputError(config::unknown("law", word, choices));
}

}  // namespace

Laws laws_named(const std::string& text) {
  if (text == "all") return Laws::all;
  if (text == "none") return Laws::none;
  Laws laws;
  std::istringstream words(text);
  for (std::string word; std::getline(words >> std::ws, word, ',');) {
    word.erase(word.find_last_not_of(' ') + 1);
    laws = laws.with(law_named(word));
  }
  return laws == Laws::none ? laws.with(law_named("")) : laws;
}

std::string other_arbitration(const machine::Network& network) {
  return network.arbitration == "fifo" ? "" : "links arbitrate by " + network.arbitration;
}

std::string why_not(const LawKind& law, const LawCase& made) {
  return law.is_allowed(made.options) ? law.refuses(made) : "not asked for";
}

std::vector<results::LawUse> uses_of_laws(const machine::Machine& machine, const program::Program& program,
                                          const SimulationOptions& options, int ranks, const std::string& not_folded) {
  const ProgramFacts facts(program);
  std::vector<results::LawUse> uses;
  for (const LawKind& law : law_kinds()) {
    std::string because = why_not(law, {machine, program, facts, options, ranks});
    if (because.empty() && law.name == "fold") because = not_folded;
    uses.push_back({law.name, because.empty(), because});
  }
  return uses;
}

std::vector<LawHelp> laws() {
  std::vector<LawHelp> all;
  for (const LawKind& law : law_kinds()) all.push_back({law.name, law.help});
  return all;
}

}  // namespace tessera::sim
