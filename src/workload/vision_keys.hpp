// Keys of [model.vision], and what has to fit together there.
#pragma once

#include <functional>

#include "tessera/workload/model.hpp"

namespace tessera::workload {

[[nodiscard]] const config::Schema<Vision>& vision_schema();
/// Fills in what a file may leave 0; without images there is no tower. `report` is told what is wrong, by field
/// ("vision.heads").
void settle_vision(Model& model, const std::function<void(const std::string& field, const std::string& what)>& report);

}  // namespace tessera::workload
