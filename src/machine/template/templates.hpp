// One function a template, one file each in this folder; built_in_templates() in template.cpp lists them.
#pragma once

#include "tessera/machine/template.hpp"

namespace tessera::machine {

[[nodiscard]] TemplateKind wafer_template();

/// [machine.template] itself: which kind.
[[nodiscard]] const config::SchemaBase& template_schema();

/// "25.5 mm"
[[nodiscard]] std::string in_millimetres(Length length);

/// Adds the defaults of the kind that a [machine.template] table names.
void complete_template(config::Table& keys);

}  // namespace tessera::machine
