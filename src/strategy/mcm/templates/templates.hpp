// What the list of templates (../built_in.cpp) needs of each: how its solver is made.
#pragma once

#include <memory>

#include "strategy/mcm/solver.hpp"

namespace tessera::strategy::mcm {

[[nodiscard]] std::unique_ptr<Solver> make_chain(const Wiring& wiring);
[[nodiscard]] std::unique_ptr<Solver> make_levels(const Wiring& wiring);
[[nodiscard]] std::unique_ptr<Solver> make_complete(const Wiring& wiring);

}  // namespace tessera::strategy::mcm
