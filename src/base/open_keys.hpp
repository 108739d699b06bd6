// Values that are left open.
#pragma once

#include "tessera/base/config.hpp"

namespace tessera::config {

/// A value of the field is a list itself.
[[nodiscard]] bool is_list(const detail::FieldBase& field);
/// The field may be open, and the value is "any" or a list of values: where these are lists themselves, of lists.
[[nodiscard]] bool is_open(const detail::FieldBase& field, const Value& value);

}  // namespace tessera::config
