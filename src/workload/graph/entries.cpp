#include "entries.hpp"

namespace tessera::workload {
namespace {

template <class Kinds>
std::vector<std::string> names_in(const Kinds& kinds) {
  std::vector<std::string> names;
  for (const auto& [name, kind] : kinds) names.push_back(name);
  return names;
}

constexpr const char* most_bytes = "1000000000000000";

const config::Schema<TensorEntry>& tensor_schema() {
  static const config::Schema<TensorEntry> schema = [] {
    config::Schema<TensorEntry> s("graph.tensors", "What goes from one node to another, or is there from the start.");
    s.text("name", &TensorEntry::name, "unique in the graph");
    s.choice("kind", &TensorEntry::kind, names_in(tensor_kinds()),
             "made by a node; or there from the start: a batch's input, trained, or a constant of the model")
        .otherwise("made");
    s.integer("elements", &TensorEntry::elements, "numbers in it").at_least("0").at_most(most_bytes);
    s.integer("bytes", &TensorEntry::bytes, "-1: as many as its elements take in the graph's datatype")
        .at_least("-1")
        .at_most(most_bytes)
        .otherwise("-1");
    return s;
  }();
  return schema;
}

const config::Schema<Convolution>& convolution_schema() {
  static const config::Schema<Convolution> schema = [] {
    config::Schema<Convolution> s("graph.nodes.convolution",
                                  "What a gemm stands for: m has the places of the output, of all samples, row by row; "
                                  "k the channels of the input times the window.");
    const auto count = [&](const char* key, std::int64_t Convolution::*member, const char* help,
                           const char* least = "1") {
      return s.integer(key, member, help).at_least(least).at_most("1000000");
    };
    count("height", &Convolution::height, "rows of the image");
    count("width", &Convolution::width, "of the image");
    count("out_height", &Convolution::out_height, "rows of the output");
    count("out_width", &Convolution::out_width, "of the output");
    count("window_height", &Convolution::window_height, "rows of the window").otherwise("1");
    count("window_width", &Convolution::window_width, "of the window").otherwise("1");
    count("stride", &Convolution::stride_down, "from one row of the output to the next").otherwise("1");
    count("padding", &Convolution::pad_down, "rows above the image", "0").otherwise("0");
    count("dilation", &Convolution::dilation, "from one row of the window to the next").otherwise("1");
    return s;
  }();
  return schema;
}

const config::Schema<NodeEntry>& node_schema() {
  static const config::Schema<NodeEntry> schema = [] {
    config::Schema<NodeEntry> s("graph.nodes", "One operator.");
    s.text("name", &NodeEntry::name, "unique in the graph");
    s.choice("kind", &NodeEntry::kind, names_in(node_kinds()), "what is computed; all but gemm stream through memory");
    s.text("datatype", &NodeEntry::datatype, "of its operands; empty: the graph's").otherwise("");
    s.integer("batch", &NodeEntry::batch, "gemm: products").at_least("1").at_most(most_bytes).otherwise("1");
    for (const auto& [key, member] :
         {std::pair{"m", &NodeEntry::m}, std::pair{"n", &NodeEntry::n}, std::pair{"k", &NodeEntry::k}})
      s.integer(key, member, "gemm: (m x k) (k x n)").at_least("0").at_most(most_bytes).otherwise("0");
    s.integer("bytes_read", &NodeEntry::bytes_read, "from memory; -1: all that it reads")
        .at_least("-1")
        .at_most(most_bytes)
        .otherwise("-1");
    s.integer("bytes_written", &NodeEntry::bytes_written, "to memory; -1: all that it writes")
        .at_least("-1")
        .at_most(most_bytes)
        .otherwise("-1");
    s.texts("reads", &NodeEntry::reads, "names of tensors").optional();
    s.texts("writes", &NodeEntry::writes, "names of tensors");
    s.table("convolution", &NodeEntry::convolution, convolution_schema(),
            "of a gemm that stands for one, see graph.nodes.convolution")
        .optional();
    return s;
  }();
  return schema;
}

}  // namespace

const std::vector<std::pair<std::string, TensorKind>>& tensor_kinds() {
  static const std::vector<std::pair<std::string, TensorKind>> kinds{{"input", TensorKind::input},
                                                                     {"made", TensorKind::made},
                                                                     {"parameter", TensorKind::parameter},
                                                                     {"constant", TensorKind::constant}};
  return kinds;
}

const std::vector<std::pair<std::string, OperatorKind>>& node_kinds() {
  static const std::vector<std::pair<std::string, OperatorKind>> kinds = [] {
    std::vector<std::pair<std::string, OperatorKind>> all;
    for (const OperatorKind kind :
         {OperatorKind::gemm, OperatorKind::norm, OperatorKind::elementwise, OperatorKind::fused, OperatorKind::dropout,
          OperatorKind::softmax, OperatorKind::embedding, OperatorKind::reduction, OperatorKind::copy})
      all.emplace_back(name_of(kind), kind);
    return all;
  }();
  return kinds;
}

const config::Schema<GraphEntry>& entry_schema() {
  static const config::Schema<GraphEntry> schema = [] {
    config::Schema<GraphEntry> s("graph", "A computation graph, operator by operator.");
    s.text("name", &GraphEntry::name, "of the graph");
    s.choice("datatype", &GraphEntry::datatype, datatype_names(), "of tensors and operands").otherwise("fp16");
    s.tables("tensors", &GraphEntry::tensors, tensor_schema(), "all tensors");
    s.tables("nodes", &GraphEntry::nodes, node_schema(), "all operators, in any order");
    return s;
  }();
  return schema;
}

}  // namespace tessera::workload
