// From ONNX's nodes and values to operators and tensors. Shapes come from the library's own inference.
#ifdef TESSERA_ONNX
#include <fmt/format.h>
#include <google/protobuf/stubs/logging.h>
#include <onnx/onnx_pb.h>
#include <onnx/shape_inference/implementation.h>

#include <algorithm>
#include <exception>
#include <filesystem>
#include <map>
#include <new>
#include <optional>
#include <set>

#include "dimensions.hpp"
#include "onnx.hpp"
#include "operators.hpp"
#include "steps.hpp"
#include "tessera/base/error.hpp"
#include "tessera/base/integers.hpp"
#include "tessera/base/text.hpp"

namespace tessera::workload {
namespace {

using onnx::TensorProto;

struct Element {
  std::string datatype;    ///< as operators call it; empty: no number that anything computes with
  std::int64_t bytes = 4;  ///< of one
};

/// Nothing: a type that is not known, or whose elements have no fixed size.
std::optional<Element> element_of(int type) {
  switch (type) {
    case TensorProto::FLOAT:
      return Element{"fp32", 4};
    case TensorProto::FLOAT16:
      return Element{"fp16", 2};
    case TensorProto::BFLOAT16:
      return Element{"bf16", 2};
    case TensorProto::INT8:
    case TensorProto::UINT8:
      return Element{"int8", 1};
    case TensorProto::BOOL:
      return Element{"", 1};
    case TensorProto::INT64:
    case TensorProto::UINT64:
      return Element{"", 8};
    case TensorProto::DOUBLE:
      return Element{"fp32", 8};  // computes on no matrix unit that is described here
    case TensorProto::INT16:
    case TensorProto::UINT16:
      return Element{"", 2};
    case TensorProto::INT32:
    case TensorProto::UINT32:
      return Element{"", 4};
    default:
      return std::nullopt;
  }
}

/// "COMPLEX64", or its number where this version of ONNX has no name for it.
std::string type_text(int type) {
  return TensorProto::DataType_IsValid(type) ? TensorProto::DataType_Name(static_cast<TensorProto::DataType>(type))
                                             : std::to_string(type);
}

class Reader {
 public:
  Reader(const onnx::GraphProto& source, std::string file, std::string floats, config::Diagnostics& diagnostics)
      : source_(source), file_(std::move(file)), floats_(std::move(floats)), diagnostics_(diagnostics) {}

  Graph read() {
    graph_.name = std::filesystem::path(file_).stem().string();  // exporters all write the same name
    note_shapes();
    note_trained();
    for (const TensorProto& weight : source_.initializer()) {
      const Shape shape(weight.dims().begin(), weight.dims().end());
      if (has_negative_side(weight.name(), shape)) continue;
      add(weight.name(), kind_of_weight(weight.name(), weight.data_type()), shape, weight.data_type());
    }
    for (const onnx::ValueInfoProto& input : source_.input()) {
      if (ids_.count(input.name()) == 0) add(input.name(), TensorKind::input);
    }
    for (const onnx::NodeProto& node : source_.node()) read_node(node);
    return std::move(graph_);
  }

 private:
  void problem(const std::string& what) { diagnostics_.error({file_, 0, 0}, what); }

  void note_shapes() {
    for (const auto* values : {&source_.input(), &source_.value_info(), &source_.output()}) {
      for (const onnx::ValueInfoProto& value : *values) {
        const auto& type = value.type().tensor_type();
        Shape shape;
        bool is_known = type.has_shape();
        for (const auto& dimension : type.shape().dim()) {
          is_known = is_known && dimension.has_dim_value() && dimension.dim_value() >= 0;
          shape.push_back(dimension.dim_value());
          if (!is_known && !dimension.dim_param().empty()) open_.try_emplace(value.name(), dimension.dim_param());
        }
        if (is_known) shapes_[value.name()] = {std::move(shape), type.elem_type()};
      }
    }
  }

  bool has_negative_side(const std::string& name, const Shape& shape) {
    const bool found = std::ranges::any_of(shape, [](std::int64_t side) { return side < 0; });
    if (found) problem(fmt::format("\"{}\" has a negative dimension", name));
    return found;
  }

  /// Of values that come with the file.
  [[nodiscard]] TensorKind kind_of_weight(const std::string& name, int type) const {
    const bool is_number = !element_of(type).value_or(Element{}).datatype.empty();
    return is_number && not_trained_.count(name) == 0 ? TensorKind::parameter : TensorKind::constant;
  }

  /// Exporters fold weights into nodes, too. A scalar is none, but a number of a formula: 0.5 of a GELU.
  void add_constant(const onnx::NodeProto& node) {
    const std::string& name = node.output(0);
    const auto value = std::ranges::find_if(node.attribute(), [](const auto& one) { return one.name() == "value"; });
    if (value != node.attribute().end() && value->has_t()) {
      const TensorProto& tensor = value->t();
      shapes_[name] = {Shape(tensor.dims().begin(), tensor.dims().end()), tensor.data_type()};
      if (has_negative_side(name, shapes_[name].first)) shapes_[name].first = {};
    }
    const auto shape = shapes_.find(name);
    const bool is_weight = shape != shapes_.end() && !shape->second.first.empty();
    add(name, is_weight ? kind_of_weight(name, shape->second.second) : TensorKind::constant);
  }

  /// Weights that an operator reads and nobody trains.
  void note_trained() {
    for (const onnx::NodeProto& node : source_.node()) {
      const OnnxOperator* op = find_onnx_operator(node.op_type());
      if (op == nullptr) continue;
      for (const std::size_t input : op->not_trained)
        if (input < static_cast<std::size_t>(node.input_size()))
          not_trained_.insert(node.input(static_cast<int>(input)));
    }
  }

  void add(const std::string& name, TensorKind kind) {
    const auto shape = shapes_.find(name);
    if (shape == shapes_.end()) {
      // Those behind it are not known either.
      if (!is_shape_missing_)
        problem(fmt::format("the shape of \"{}\" is not known: every dimension has to be a number{}", name,
                            open_.count(name) == 0 ? "" : ", such as by " + dimensions_key(open_[name])));
      is_shape_missing_ = true;
      return add(name, kind, {}, TensorProto::FLOAT);
    }
    add(name, kind, shape->second.first, shape->second.second);
  }
  void add(const std::string& name, TensorKind kind, const Shape& shape, int type) {
    const std::optional<Element> element = counted_as(type);
    // What is made of it mostly has the same type, and is not reported too.
    if (!element && refused_.insert(type).second)
      problem(
          fmt::format("tensor \"{}\" has the element type {}, allowed: FLOAT, FLOAT16, BFLOAT16, DOUBLE, BOOL, "
                      "INT8 to INT64, UINT8 to UINT64",
                      name, type_text(type)));
    const std::int64_t elements = elements_of(shape);
    ids_[name] = static_cast<TensorId>(graph_.tensors.size());
    graph_.tensors.push_back({name, kind, elements, saturating_product(elements, element.value_or(Element{}).bytes)});
    shapes_[name] = {shape, type};
  }

  /// A constant is a tensor and no operator; another name for a tensor neither. False: it is an operator.
  bool read_name(const onnx::NodeProto& node) {
    const bool is_constant = node.op_type() == "Constant";
    if ((!is_constant && node.op_type() != "Identity") || !is_standard(node) || node.output_size() != 1) return false;
    const std::string& name = node.output(0);
    if (ids_.count(name) != 0) {
      problem(fmt::format("\"{}\" is made twice", name));
    } else if (is_constant) {
      add_constant(node);
    } else if (node.input_size() != 1 || ids_.count(node.input(0)) == 0) {
      problem(fmt::format("\"{}\" is another name of what no node makes", name));
    } else {
      ids_[name] = ids_[node.input(0)];
      shapes_[name] = shapes_[node.input(0)];
    }
    return true;
  }
  static bool is_standard(const onnx::NodeProto& node) { return node.domain().empty() || node.domain() == "ai.onnx"; }

  void read_node(const onnx::NodeProto& node) {
    if (read_name(node)) return;
    const OnnxOperator* op = is_standard(node) ? find_onnx_operator(node.op_type()) : nullptr;
    const std::string name =
        node.name().empty() ? node.op_type() + " " + std::to_string(graph_.nodes.size()) : node.name();
    if (op == nullptr) return problem(fmt::format("node {}: unknown operator \"{}\"", name, node.op_type()));
    GraphNode made{name, {}, {}, {}};
    for (const std::string& input : node.input()) {
      if (input.empty()) continue;
      if (ids_.count(input) == 0) return problem(fmt::format("node {} reads \"{}\", which no node makes", name, input));
      made.reads.push_back(ids_[input]);
    }
    for (const std::string& output : node.output()) {
      if (output.empty()) continue;
      if (ids_.count(output) != 0) return problem(fmt::format("\"{}\" is made twice, by node {} too", output, name));
      add(output, TensorKind::made);
      made.writes.push_back(ids_[output]);
    }
    if (is_shape_missing_) return;
    try {
      made.work.forward = {operator_of(node, *op, made)};
    } catch (const InputError& error) {
      return problem(fmt::format("node {} ({}): {}", name, node.op_type(), error.what()));
    }
    graph_.nodes.push_back(std::move(made));
  }

  Operator operator_of(const onnx::NodeProto& node, const OnnxOperator& op, const GraphNode& made) {
    Operator found;
    if (op.product) {
      OnnxCall call;
      for (const std::string& input : node.input())
        call.inputs.push_back(input.empty() ? Shape() : shapes_[input].first);
      for (const std::string& output : node.output()) call.outputs.push_back(shapes_[output].first);
      call.attribute = [&node](const char* name, std::int64_t otherwise) {
        for (const onnx::AttributeProto& one : node.attribute())
          if (one.name() == name) return static_cast<std::int64_t>(one.i());
        return otherwise;
      };
      found = op.product(call);
    }
    found.kind = op.kind;
    found.name = made.name;
    found.datatype = datatype_of(node);
    if (op.is_view) return found;
    for (const TensorId tensor : made.reads)
      found.bytes_read = saturating_sum(found.bytes_read, graph_.tensors[tensor].bytes);
    for (const TensorId tensor : made.writes)
      found.bytes_written = saturating_sum(found.bytes_written, graph_.tensors[tensor].bytes);
    if (op.kind == OperatorKind::embedding) found.bytes_read = std::min(found.bytes_read, found.bytes_written);
    return found;
  }

  /// Of the first operand that has one; numbers that nothing computes with stream as FLOAT does.
  std::string datatype_of(const onnx::NodeProto& node) {
    for (const auto* names : {&node.input(), &node.output()}) {
      for (const std::string& name : *names) {
        const auto found = shapes_.find(name);
        if (found == shapes_.end()) continue;
        const Element element = counted_as(found->second.second).value_or(Element{});
        if (!element.datatype.empty()) return element.datatype;
      }
    }
    return floats_;
  }

  /// With FLOAT as the experiment wants it.
  [[nodiscard]] std::optional<Element> counted_as(int type) const {
    if (type == TensorProto::FLOAT) return Element{floats_, bytes_per_element(floats_)};
    return element_of(type);
  }

  const onnx::GraphProto& source_;
  std::string file_, floats_;
  config::Diagnostics& diagnostics_;
  Graph graph_;
  std::map<std::string, TensorId> ids_;
  std::map<std::string, std::pair<Shape, int>> shapes_;  ///< and the type of the elements
  std::map<std::string, std::string> open_;              ///< a dimension of a tensor that is but a name
  std::set<std::string> not_trained_;
  std::set<int> refused_;  ///< types of elements
  bool is_shape_missing_ = false;
};

}  // namespace

bool reads_onnx() { return true; }

namespace {

/// What protobuf has to say of a damaged file it says on standard error, beside the one line that we say.
class SilentProtobuf {
 public:
  SilentProtobuf() : before_(google::protobuf::SetLogHandler(nullptr)) {}
  ~SilentProtobuf() { google::protobuf::SetLogHandler(before_); }
  SilentProtobuf(const SilentProtobuf&) = delete;
  SilentProtobuf& operator=(const SilentProtobuf&) = delete;

 private:
  google::protobuf::LogHandler* before_;
};

}  // namespace

Graph read_onnx(const std::string& content, const std::string& file, const OnnxKeys& keys,
                config::Diagnostics& diagnostics) {
  const auto refuse = [&](const std::string& what) {
    diagnostics.error({file, 0, 0}, what);
    return Graph{};
  };
  const std::size_t before = diagnostics.errors().size();
  const SilentProtobuf until_it_is_read;
  onnx::ModelProto model;
  try {
    if (!model.ParseFromString(content) || !model.has_graph()) return refuse("is not a whole ONNX file");
    if (const std::string problem = problem_of_steps(model); !problem.empty()) return refuse(problem);
    set_dimensions(*model.mutable_graph(), keys.dimensions, file, diagnostics);
    if (diagnostics.errors().size() != before) return {};
    onnx::shape_inference::InferShapes(model, onnx::OpSchemaRegistry::Instance(),
                                       onnx::ShapeInferenceOptions(false, 0, true));
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& error) {  // of ONNX, and of protobuf below it
    return refuse(fmt::format("shapes do not fit together: {}", one_line(error.what())));
  }
  return Reader(model.graph(), file, keys.floats, diagnostics).read();
}

}  // namespace tessera::workload
#endif
