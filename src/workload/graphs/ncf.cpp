// Neural collaborative filtering (He et al. 2017): which items a user will like. The host looks up the rows of both.
#include "families.hpp"
#include "family.hpp"
#include "hidden_layers.hpp"

namespace tessera::workload::graphs {
namespace {

struct NcfKeys : NetworkKeys {
  std::int64_t factors = 0, row = 0;
  std::vector<std::int64_t> widths;
};

void declare_ncf(config::Schema<NcfKeys>& s) {
  s.integer("factors", &NcfKeys::factors, "numbers of a user and of an item that are multiplied")
      .at_least("1")
      .at_most("65536");
  s.integer("row", &NcfKeys::row, "numbers of each that go into the layers").at_least("1").at_most("65536");
  s.integers("widths", &NcfKeys::widths, "of the layers").at_least("1").at_most("65536");
}

void build_ncf(const NcfKeys& keys, NetworkBuilder& net) {
  const Volume user = net.input("user_factors", keys.factors, 1, 1),
               item = net.input("item_factors", keys.factors, 1, 1);
  const Volume user_row = net.input("user_row", keys.row, 1, 1), item_row = net.input("item_row", keys.row, 1, 1);
  net.scope("factors");
  const Volume products = net.multiply(user, item);
  net.scope("rows");
  const Volume deep = hidden_layers(net, "layer", net.concat({user_row, item_row}), keys.widths);
  net.scope("head");
  static_cast<void>(net.activation("sigmoid", net.linear(net.concat({products, deep}), 1)));
}

}  // namespace

NetworkFamily ncf_family() { return family<NcfKeys>("ncf", "neural collaborative filtering", declare_ncf, build_ncf); }

}  // namespace tessera::workload::graphs
