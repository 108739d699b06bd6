// The program of a partition: inputs pass through the chips one after another.
//
// Each chip repeats: take what other chips have sent for the next input, run its nodes, hand over what others read; a
// stream of its own sends it. A chip may run ahead of a reader by as many inputs as that one has buffers for, which is
// told by credits: messages of credit_bytes that go on round the ring. Buffers for what comes are there from the start,
// so nothing arrives without a place; so has what is sent, for the input that leaves and
// the one that is computed. The host's part, inputs and results, takes no time.
#pragma once

#include <cstdint>

#include "chip_work.hpp"
#include "tessera/program/program.hpp"

namespace tessera::strategy::mcm {

inline constexpr std::int64_t credit_bytes = 8;  ///< a number

/// `empty`: a program in which no device does anything. Each chip marks the end of each input (program/steady.hpp).
[[nodiscard]] program::Program package_program(const Package& package, const std::vector<ChipWork>& work,
                                               program::Program empty, std::int64_t inputs);

}  // namespace tessera::strategy::mcm
