#include "primepar_execution.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <utility>

#include "tessera/base/random.hpp"

namespace tessera::strategy::primepar {
namespace {

/// Batch and rows of a box of [B, M, X], or of the rows of one of [N, K].
struct Rows {
  explicit Rows(const Box& box) : outer(box.size() == 3 ? box[0] : Range{0, 1}), inner(box[box.size() - 2]) {}
  [[nodiscard]] std::int64_t count() const { return outer.size() * inner.size(); }
  [[nodiscard]] std::int64_t index(std::int64_t b, std::int64_t m) const {
    return (b - outer.begin) * inner.size() + m - inner.begin;
  }
  Range outer, inner;
};

Part poisoned(const Box& box) { return {Matrix::Constant(Rows(box).count(), box.back().size(), poison), box}; }

/// A region that lies in both.
void copy(const Part& from, const Box& region, Part& to) {
  const Rows source(from.box), target(to.box), rows(region);
  const Range& columns = region.back();
  for (std::int64_t b = rows.outer.begin; b < rows.outer.end; ++b) {
    for (std::int64_t m = rows.inner.begin; m < rows.inner.end; ++m) {
      to.values.row(target.index(b, m)).segment(columns.begin - to.box.back().begin, columns.size()) =
          from.values.row(source.index(b, m)).segment(columns.begin - from.box.back().begin, columns.size());
    }
  }
}

Part extract(const Part& from, const Box& region) {
  Part part = poisoned(region);
  copy(from, region, part);
  return part;
}

Box whole_box(const Operator& op, Tensor tensor) {
  Box box;
  for (const int dimension : op.dimensions_of(tensor))
    box.push_back({0, op.dimensions[static_cast<std::size_t>(dimension)].extent});
  return box;
}

}  // namespace

Matrix small_integers(const char* stream, std::int64_t rows, std::int64_t columns) {
  const KeyedRandom random(7, random_stream(stream));
  Matrix values(rows, columns);
  for (std::int64_t i = 0; i < values.size(); ++i)
    values.data()[i] = static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(i), 7)) - 3;
  return values;
}

void Execution::load(Tensor tensor, Phase phase, const Matrix& whole) {
  const Part all{whole, whole_box(slices_.op(), tensor)};
  for (std::size_t i = 0; i < devices_.size(); ++i)
    devices_[i][tensor] = extract(all, slices_.box(tensor, static_cast<int>(i), phase, 0)).values;
}

void Execution::load(Tensor tensor, std::vector<Part> parts) {
  for (std::size_t i = 0; i < devices_.size(); ++i) devices_[i][tensor] = std::move(parts[i].values);
}

void Execution::align(Phase begins) {
  for (const Alignment& one : alignments(slices_)) {
    if (one.after.phase == begins) transfer(one.moves, one.before, one.after);
  }
}

void Execution::run(Phase phase) {
  const Tensor sum = product_of(phase).sum;
  const std::vector<StepTransfer> transfers = step_transfers(slices_, phase);
  const auto move = [&](int step, bool sums) {
    for (const StepTransfer& one : transfers) {
      if (one.step == step && one.is_sum == sums)
        transfer(one.moves, {one.tensor, phase, step - 1}, {one.tensor, phase, step});
    }
  };
  for (int step = 0; step < slices_.steps(); ++step) {
    move(step, false);
    std::vector<Matrix> computed = products(phase);  // while the sums travel
    move(step, true);
    for (std::size_t i = 0; i < devices_.size(); ++i) {
      if (step > 0) computed[i] += devices_[i][sum];
      devices_[i][sum] = std::move(computed[i]);
    }
  }
  reduce(phase);
}

std::vector<Matrix> Execution::products(Phase phase) const {
  std::vector<Matrix> found;
  for (const Buffers& own : devices_) {
    if (phase == Phase::forward) found.emplace_back(own[Tensor::input] * own[Tensor::weight]);
    if (phase == Phase::backward) found.emplace_back(own[Tensor::output_gradient] * own[Tensor::weight].transpose());
    if (phase == Phase::gradient) found.emplace_back(own[Tensor::input].transpose() * own[Tensor::output_gradient]);
  }
  return found;
}

void Execution::transfer(const std::vector<Move>& moves, const Moment& before, const Moment& after) {
  const auto buffer = [&](int device) -> Matrix& { return devices_[static_cast<std::size_t>(device)][before.tensor]; };
  std::vector<Matrix> messages;
  for (const Move& move : moves) {
    messages.push_back(buffer(move.from));
    traffic_.sent += messages.back().size();
  }
  for (const Move& move : moves) {
    const bool still_needed =
        slices_.key(slices_.op().dimensions_of(before.tensor), move.from, before.phase, before.step) ==
        slices_.key(slices_.op().dimensions_of(after.tensor), move.from, after.phase, after.step);
    if (!still_needed) buffer(move.from).setConstant(poison);
  }
  for (std::size_t i = 0; i < moves.size(); ++i) {
    buffer(moves[i].to) = std::move(messages[i]);
    traffic_.received += buffer(moves[i].to).size();
    traffic_.derived += moves[i].elements;
  }
}

void Execution::reduce(Phase phase) {
  const AllReduce derived = all_reduce(slices_, phase);
  for (const std::vector<int>& group : derived.groups) {
    const auto buffer = [&](int device) -> Matrix& {
      return devices_[static_cast<std::size_t>(device)][derived.tensor];
    };
    Matrix sum = buffer(group.front());
    for (std::size_t i = 1; i < group.size(); ++i) sum += buffer(group[i]);
    for (const int device : group) buffer(device) = sum;
  }
}

std::vector<Part> Execution::parts(Tensor tensor, Phase ended) const {
  const std::vector<Box> held = boxes(slices_, tensor, ended, slices_.steps() - 1);
  std::vector<Part> found;
  for (std::size_t i = 0; i < devices_.size(); ++i) found.push_back({devices_[i][tensor], held[i]});
  return found;
}

Matrix Execution::gathered(Tensor tensor, Phase ended) const {
  const std::vector<Part> slices = parts(tensor, ended);
  Part whole = poisoned(whole_box(slices_.op(), tensor));
  for (const Part& part : slices) copy(part, part.box, whole);
  for (const Part& part : slices) REQUIRE(extract(whole, part.box).values == part.values);
  return whole.values;
}

std::vector<Part> redistributed(const std::vector<Part>& held, const std::vector<Box>& needed,
                                const std::vector<Piece>& pieces, Traffic& traffic) {
  std::vector<Part> found;
  for (std::size_t device = 0; device < needed.size(); ++device) {
    found.push_back(poisoned(needed[device]));
    Box own;
    for (std::size_t i = 0; i < needed[device].size(); ++i) {
      const Range &a = held[device].box[i], &b = needed[device][i];
      own.push_back({std::max(a.begin, b.begin), std::max(std::max(a.begin, b.begin), std::min(a.end, b.end))});
    }
    if (elements_of(own) > 0) copy(held[device], own, found.back());
  }
  for (const Piece& piece : pieces) {
    const Part message = extract(held[static_cast<std::size_t>(piece.from)], box_of(piece.region));
    traffic.sent += message.values.size();
    copy(message, message.box, found[static_cast<std::size_t>(piece.to)]);
    traffic.received += elements_of(message.box);
    traffic.derived += piece.elements();
  }
  return found;
}

}  // namespace tessera::strategy::primepar
