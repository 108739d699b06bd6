#ifdef TESSERA_ONNX
#include "dimensions.hpp"

#include <fmt/format.h>
#include <onnx/onnx_pb.h>

#include <algorithm>
#include <cctype>
#include <set>

#include "tessera/base/text.hpp"

namespace tessera::workload {
namespace {

using Dimension = onnx::TensorShapeProto_Dimension;

/// Calls visit(name of the tensor, index, dimension) for each of these tensors.
template <class Values, class Visit>
void for_each_dimension(Values& values, const Visit& visit) {
  for (onnx::ValueInfoProto& value : values) {
    if (!value.type().has_tensor_type() || !value.type().tensor_type().has_shape()) continue;
    auto& shape = *value.mutable_type()->mutable_tensor_type()->mutable_shape();
    for (int i = 0; i < shape.dim_size(); ++i) visit(value.name(), i, *shape.mutable_dim(i));
  }
}

/// Exporters write the size of one that has a name as -1, too.
bool is_named(const Dimension& dimension) { return !dimension.dim_param().empty(); }
bool has_size(const Dimension& dimension) { return dimension.has_dim_value() && dimension.dim_value() >= 0; }

void refuse_open_inputs(onnx::GraphProto& graph, const std::string& file, config::Diagnostics& diagnostics) {
  std::set<std::string> said;
  for_each_dimension(*graph.mutable_input(), [&](const std::string& input, int index, const Dimension& dimension) {
    if (has_size(dimension)) return;
    if (!is_named(dimension)) {
      diagnostics.error({file, 0, 0},
                        fmt::format("dimension {} of input \"{}\" has neither a size nor a name, allowed: a size, or a "
                                    "name that gets one by dimensions = {{ NAME = SIZE }} beside the file's name",
                                    index, one_line(input)));
    } else if (said.insert(dimension.dim_param()).second) {
      diagnostics.error({file, 0, 0}, fmt::format("dimension \"{}\" of input \"{}\" has no size, write {} beside the "
                                                  "file's name ([model], docs/graphs.md)",
                                                  one_line(dimension.dim_param()), one_line(input),
                                                  dimensions_key(dimension.dim_param())));
    }
  });
}

}  // namespace

std::string dimensions_key(const std::string& name) {
  const bool is_bare = !name.empty() && std::ranges::all_of(name, [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '_' || c == '-';
  });
  const std::string key = is_bare ? name : fmt::format("\"{}\"", one_line(name));
  return fmt::format("dimensions = {{ {} = 1 }}", key);
}

void set_dimensions(onnx::GraphProto& graph, const std::vector<NamedDimension>& dimensions, const std::string& file,
                    config::Diagnostics& diagnostics) {
  std::set<std::string> known;
  for (auto* values : {graph.mutable_input(), graph.mutable_value_info(), graph.mutable_output()}) {
    for_each_dimension(*values, [&](const std::string&, int, Dimension& dimension) {
      if (!is_named(dimension)) return;
      known.insert(dimension.dim_param());
      for (const NamedDimension& given : dimensions)
        if (given.name == dimension.dim_param()) return dimension.set_dim_value(given.size);
    });
  }
  for (const NamedDimension& given : dimensions) {
    if (known.count(given.name) != 0) continue;
    diagnostics.error(given.where,
                      known.empty() ? fmt::format("\"dimensions\": {} has no dimension \"{}\", all of its dimensions "
                                                  "have sizes",
                                                  file, given.name)
                                    : config::unknown("dimension", given.name, {known.begin(), known.end()}));
  }
  refuse_open_inputs(graph, file, diagnostics);
}

}  // namespace tessera::workload
#endif
