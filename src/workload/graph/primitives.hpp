// Nodes of one primitive operator each, put behind each other.
#pragma once

#include <string>
#include <vector>

#include "tessera/workload/graph.hpp"

namespace tessera::workload {

/// Adds nodes to a graph, each with the one tensor that it makes. Bytes of a node are those of its operands, each once,
/// and of what it makes.
class Primitives {
 public:
  Primitives(Graph& graph, std::string datatype);
  /// Of the names of what follows: "layer3.".
  void set_prefix(const std::string& prefix) { prefix_ = prefix; }

  [[nodiscard]] TensorId input(const std::string& name, std::int64_t elements);
  [[nodiscard]] TensorId parameter(const std::string& name, std::int64_t elements);
  /// Products of (m x k) by (k x n), of whatever operands: a convolution has an image among them.
  struct Sides {
    std::int64_t batch = 1, m = 0, n = 0, k = 0;
  };
  TensorId product(const std::string& name, std::vector<TensorId> reads, const Sides& sides, std::int64_t elements,
                   const Convolution& convolution = {});
  /// What streams through memory. Its result is in FP32 where its first operand is.
  TensorId stream(OperatorKind kind, const std::string& name, std::vector<TensorId> reads, std::int64_t elements);
  /// Of two operands, or one, as many numbers as the first one has.
  TensorId elementwise(const std::string& name, std::vector<TensorId> reads);
  /// A row for each row of `elements` numbers.
  TensorId reduce(const std::string& name, TensorId read, std::int64_t elements);
  /// One that all rows read is written out for each of them, as wide as `like`.
  TensorId broadcast(const std::string& name, TensorId read, TensorId like);
  /// So many numbers of the first operand, and the others whole: a slice, rows of a table.
  TensorId part(OperatorKind kind, const std::string& name, std::vector<TensorId> reads, std::int64_t elements);
  /// Another shape of the same numbers: nothing moves.
  TensorId view(const std::string& name, TensorId read);
  /// To FP32 and back; no node where all is in FP32 anyway.
  TensorId widen(const std::string& name, TensorId read);
  TensorId narrow(const std::string& name, TensorId read);

  [[nodiscard]] std::int64_t elements(TensorId tensor) const { return graph_.tensors[tensor].elements; }

 private:
  [[nodiscard]] TensorId there(TensorKind kind, const std::string& name, std::int64_t elements, std::int64_t size);
  [[nodiscard]] bool is_wide(TensorId tensor) const;
  [[nodiscard]] std::int64_t bytes(const std::vector<TensorId>& tensors) const;  ///< each once
  TensorId add(const std::string& name, Operator op, std::vector<TensorId> reads, std::int64_t elements,
               std::int64_t size);
  TensorId move(OperatorKind kind, const std::string& name, std::vector<TensorId> reads, std::int64_t elements,
                std::int64_t size);

  Graph& graph_;
  std::string datatype_, prefix_;
  std::int64_t size_;  ///< bytes of a number
};

}  // namespace tessera::workload
