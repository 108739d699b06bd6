// The algorithms that registry.cpp lists, one file each. Adding one: its file, its line here, its line there.
#pragma once

#include <memory>

#include "tessera/program/collective.hpp"

namespace tessera::program {

[[nodiscard]] AlgorithmPointer make_ring();
[[nodiscard]] AlgorithmPointer make_bidirectional_ring();
[[nodiscard]] AlgorithmPointer make_direct();
[[nodiscard]] AlgorithmPointer make_binomial_tree();
[[nodiscard]] AlgorithmPointer make_double_tree();
[[nodiscard]] AlgorithmPointer make_in_switch();
[[nodiscard]] AlgorithmPointer make_halving_doubling();
[[nodiscard]] AlgorithmPointer make_dissemination();
[[nodiscard]] AlgorithmPointer make_hierarchical();
[[nodiscard]] AlgorithmPointer make_mesh();
[[nodiscard]] AlgorithmPointer make_mesh_scatter();
[[nodiscard]] AlgorithmPointer make_torus();
[[nodiscard]] AlgorithmPointer make_ring_bi_odd();
[[nodiscard]] AlgorithmPointer make_multitree();
[[nodiscard]] AlgorithmPointer make_synthesised();
[[nodiscard]] AlgorithmPointer make_automatic();

}  // namespace tessera::program
