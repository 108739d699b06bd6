// The list of templates: one line each.
#include "solver.hpp"
#include "templates/templates.hpp"

namespace tessera::strategy::mcm {

const std::vector<TemplateKind>& template_kinds() {
  static const std::vector<TemplateKind> kinds = {
      {"chain", "an edge stays on its chip or goes to the next one", make_chain},
      {"levels", "chips in levels of one or two, an edge climbs one level at most", make_levels},
      {"complete", "whatever is valid; for small graphs", make_complete},
  };
  return kinds;
}

}  // namespace tessera::strategy::mcm
