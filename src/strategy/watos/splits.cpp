#include "splits.hpp"

#include <algorithm>

namespace tessera::strategy::watos {

const std::vector<Split>& splits() {
  static const std::vector<Split> all = {
      {"H-K", "columns, then the inner dimension: all-reduce of A behind each pair of products", Carrier::whole_tokens},
      {"S-H-K", "the same, and tokens between them: all-gather of A before, reduce-scatter of A behind each pair",
       Carrier::cut_tokens},
      {"HxK",
       "two dimensions: all-gather of each product's input over a row or a column, reduce-scatter of its output "
       "over the other",
       Carrier::both_sides},
      {"B", "sequences: all-reduce of the weights' gradients at the end", Carrier::data_parallel},
      {"S", "tokens: all-gather of keys and values, all-reduce of the weights' gradients at the end", Carrier::nobody},
  };
  return all;
}

DataTable splits_table() {
  DataTable table{"splits", "Ways to cut products over a group, as /search names them, one a row.", {}};
  table.text("split", "its name", values_of(splits(), &Split::name));
  return table.text("implies", "collectives of a layer", values_of(splits(), &Split::implies));
}

const Split& split_by(Carrier carrier) { return *std::ranges::find(splits(), carrier, &Split::carrier); }

}  // namespace tessera::strategy::watos
