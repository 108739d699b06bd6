// Keys of [model.diffusion], and what a model without a vocabulary cannot have.
#pragma once

#include <functional>

#include "tessera/workload/model.hpp"

namespace tessera::workload {

[[nodiscard]] const config::Schema<Diffusion>& diffusion_schema();
/// Fills in what a file may leave 0. `report` is told what is wrong, by field ("diffusion.text_tokens").
void settle_ends(Model& model, const std::function<void(const std::string& field, const std::string& what)>& report);

}  // namespace tessera::workload
