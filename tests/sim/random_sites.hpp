// Keyed random machines with dead links and spare devices, and replicas that stand on them.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "program_case.hpp"

namespace tessera::test {

enum class SiteKind : std::uint8_t {
  mesh,
  torus,
  ring,     ///< both ways
  package,  ///< a ring one way
  rails,    ///< a cluster with a rail-optimised fabric
  torus_3d,
  dragonfly,
};
inline constexpr std::array site_kinds{SiteKind::mesh,  SiteKind::torus,    SiteKind::ring,     SiteKind::package,
                                       SiteKind::rails, SiteKind::torus_3d, SiteKind::dragonfly};

struct Site {
  machine::Machine machine;
  std::vector<std::vector<program::DeviceId>> replicas;  ///< one or more; not all devices are in one
  bool is_even =
      false;  ///< what one replica sends to the next may take the same way as what the last sends to the first
};

[[nodiscard]] Site random_site(SiteKind kind, std::uint64_t index);

}  // namespace tessera::test
