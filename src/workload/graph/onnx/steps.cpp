#ifdef TESSERA_ONNX
#include "steps.hpp"

#include <fmt/format.h>
#include <onnx/onnx_pb.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>

#include "tessera/base/text.hpp"

namespace tessera::workload {
namespace {

constexpr std::array<std::string_view, 6> steps = {"strides", "dilations", "kernel_shape",
                                                   "group",   "blocksize", "num_outputs"};

std::string problem_of_nodes(const google::protobuf::RepeatedPtrField<onnx::NodeProto>& nodes);

std::string problem_of(const onnx::NodeProto& node, const onnx::AttributeProto& attribute) {
  const auto is_below_one = [](std::int64_t value) { return value < 1; };
  const bool is_step = std::ranges::find(steps, attribute.name()) != steps.end();
  if (is_step && (std::ranges::any_of(attribute.ints(), is_below_one) ||
                  (attribute.ints_size() == 0 && is_below_one(attribute.i()))))
    return fmt::format("node {} ({}): \"{}\" has a number below 1, allowed: at least 1", one_line(node.name()),
                       one_line(node.op_type()), attribute.name());
  std::string problem = problem_of_nodes(attribute.g().node());  // of what a condition or a loop carries out
  for (const onnx::GraphProto& graph : attribute.graphs())
    if (problem.empty()) problem = problem_of_nodes(graph.node());
  return problem;
}

std::string problem_of_nodes(const google::protobuf::RepeatedPtrField<onnx::NodeProto>& nodes) {
  for (const onnx::NodeProto& node : nodes) {
    for (const onnx::AttributeProto& attribute : node.attribute())
      if (std::string problem = problem_of(node, attribute); !problem.empty()) return problem;
  }
  return {};
}

}  // namespace

std::string problem_of_steps(const onnx::ModelProto& model) {
  std::string problem = problem_of_nodes(model.graph().node());
  for (const onnx::FunctionProto& function : model.functions())
    if (problem.empty()) problem = problem_of_nodes(function.node());
  return problem;
}

}  // namespace tessera::workload
#endif
