// Perceptrons: linear layers behind each other (Seide et al. 2011, Ciresan et al. 2010).
#include "families.hpp"
#include "family.hpp"
#include "hidden_layers.hpp"

namespace tessera::workload::graphs {
namespace {

struct MlpKeys : NetworkKeys {
  std::int64_t features = 0, classes = 0;
  std::vector<std::int64_t> widths;
};

void declare_mlp(config::Schema<MlpKeys>& s) {
  s.integer("features", &MlpKeys::features, "numbers of an input").at_least("1").at_most("10000000");
  s.integers("widths", &MlpKeys::widths, "of the hidden layers").at_least("1").at_most("1000000");
  s.integer("classes", &MlpKeys::classes, "that are told apart").at_least("1").at_most("1000000");
}

void build_mlp(const MlpKeys& keys, NetworkBuilder& net) {
  const Volume at = hidden_layers(net, "layer", net.input("features", keys.features, 1, 1), keys.widths);
  net.scope("classes");
  static_cast<void>(net.softmax(net.linear(at, keys.classes)));
}

}  // namespace

NetworkFamily mlp_family() { return family<MlpKeys>("mlp", "perceptrons", declare_mlp, build_mlp); }

}  // namespace tessera::workload::graphs
