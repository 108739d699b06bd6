// DLRM (Naumov et al. 2019): recommendation from dense features and rows of tables, which the host looks up.
#include <fmt/format.h>

#include "families.hpp"
#include "family.hpp"
#include "hidden_layers.hpp"

namespace tessera::workload::graphs {
namespace {

struct DlrmKeys : NetworkKeys {
  std::int64_t dense = 13, tables = 26, row = 0;
  std::vector<std::int64_t> bottom, top;
};

void declare_dlrm(config::Schema<DlrmKeys>& s) {
  s.integer("dense", &DlrmKeys::dense, "features that are numbers").at_least("1").at_most("100000").otherwise("13");
  s.integer("tables", &DlrmKeys::tables, "of which one row each is looked up")
      .at_least("1")
      .at_most("10000")
      .otherwise("26");
  s.integer("row", &DlrmKeys::row, "numbers of a table's row").at_least("1").at_most("65536");
  s.integers("bottom", &DlrmKeys::bottom, "widths of the layers on dense features; the last: row")
      .at_least("1")
      .at_most("65536");
  s.integers("top", &DlrmKeys::top, "widths of the hidden layers behind").at_least("1").at_most("65536");
}

/// Products of all pairs of rows, each pair once, go on behind the dense features.
void build_dlrm(const DlrmKeys& keys, NetworkBuilder& net) {
  if (keys.bottom.empty() || keys.bottom.back() != keys.row)
    throw InputError(
        fmt::format("bottom ends with {}, allowed: row, {}", keys.bottom.empty() ? 0 : keys.bottom.back(), keys.row));
  const Volume dense = hidden_layers(net, "bottom", net.input("dense", keys.dense, 1, 1), keys.bottom);
  const Volume rows = net.input("rows", keys.tables * keys.row, 1, 1);
  net.scope("interaction");
  const std::int64_t vectors = keys.tables + 1;
  const Volume all = net.concat({dense, rows});
  const Volume pairs =
      net.product("product", {all}, {}, {net.batch(), vectors, vectors, keys.row}, {0, vectors * vectors, 1, 1});
  const Volume once = net.cut("lower_half", pairs, {0, vectors * (vectors - 1) / 2, 1, 1});
  const Volume at = hidden_layers(net, "top", net.concat({dense, once}), keys.top);
  net.scope("head");
  static_cast<void>(net.activation("sigmoid", net.linear(at, 1)));
}

}  // namespace

NetworkFamily dlrm_family() { return family<DlrmKeys>("dlrm", "DLRM", declare_dlrm, build_dlrm); }

}  // namespace tessera::workload::graphs
