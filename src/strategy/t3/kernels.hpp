// From the options to the kernel of one GEMM, and what cannot be communicated as they say.
#pragma once

#include <optional>

#include "tessera/program/sublayer.hpp"
#include "tessera/strategy/t3/t3.hpp"

namespace tessera::strategy::t3 {

using program::sublayer::Configuration;
using program::sublayer::configuration;
using program::sublayer::Following;
using program::sublayer::Problem;
using program::sublayer::Product;
using program::sublayer::Streams;
using program::sublayer::Work;

/// Cuts it as the options say; without the user's own maps.
void cut(const Options& options, program::GemmKernel& gemm);

/// What cannot be communicated as the options say.
[[nodiscard]] std::optional<Problem> communication_problem(const Work& work, const Options& options);

}  // namespace tessera::strategy::t3
