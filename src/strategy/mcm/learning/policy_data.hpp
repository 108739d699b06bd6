// A policy as plain data (base/tensors.hpp), for files, and back.
#pragma once

#include "ppo.hpp"
#include "tessera/base/tensors.hpp"

namespace tessera::strategy::mcm {

/// The parameters, each layer's by name, and what they are for: feature set, chips.
[[nodiscard]] Tensors policy_data(const Layout& layout, const std::vector<float>& parameters);
/// Adds what an optimizer needs to go on as if nothing had been.
void add_optimizer(const learning::Adam& adam, Tensors& data);

/// The parameters of such data. InputError, in a line, for what is no policy of this strategy, of another feature set,
/// of networks of another shape, and with values that are no numbers.
[[nodiscard]] std::vector<float> parameters_of(const Tensors& data, const Layout& layout);
/// A note that is a whole number from 0 on. InputError where it is none.
[[nodiscard]] std::int64_t number_of(const Tensors& data, const std::string& note);
/// Chips of the package that it was trained for. InputError as parameters_of().
[[nodiscard]] std::uint32_t chips_of(const Tensors& data);
/// InputError where there is no optimizer, or one of another size.
[[nodiscard]] learning::Adam optimizer_of(const Tensors& data, std::size_t size);

}  // namespace tessera::strategy::mcm
