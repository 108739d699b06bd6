#include "primepar_execution.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <utility>

#include "tessera/base/random.hpp"

namespace tessera::strategy::primepar {
namespace {

std::int64_t rows_of(const Box& box) {
  std::int64_t rows = 1;
  for (std::size_t i = 0; i + 1 < box.size(); ++i) rows *= box[i].size();
  return rows;
}

/// All places of the dimensions but the last one, outermost first.
template <class Visit>
void each_row(const Box& region, const Visit& visit) {
  if (elements_of(region) == 0) return;
  std::vector<std::int64_t> at;
  for (std::size_t i = 0; i + 1 < region.size(); ++i) at.push_back(region[i].begin);
  for (std::size_t i = at.size();;) {
    visit(at);
    for (i = at.size(); i > 0 && ++at[i - 1] == region[i - 1].end; --i) at[i - 1] = region[i - 1].begin;
    if (i == 0) return;
  }
}

std::int64_t row_in(const Box& box, const std::vector<std::int64_t>& at) {
  std::int64_t row = 0;
  for (std::size_t i = 0; i < at.size(); ++i) row = row * box[i].size() + at[i] - box[i].begin;
  return row;
}

/// A region that lies in both.
void copy(const Part& from, const Box& region, Part& to) {
  const Range& columns = region.back();
  each_row(region, [&](const std::vector<std::int64_t>& at) {
    to.values.row(row_in(to.box, at)).segment(columns.begin - to.box.back().begin, columns.size()) =
        from.values.row(row_in(from.box, at)).segment(columns.begin - from.box.back().begin, columns.size());
  });
}

}  // namespace

Part poisoned(const Box& box) { return {Matrix::Constant(rows_of(box), box.back().size(), poison), box}; }

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

Matrix small_integers(const char* stream, std::int64_t rows, std::int64_t columns) {
  const KeyedRandom random(7, random_stream(stream));
  Matrix values(rows, columns);
  for (std::int64_t i = 0; i < values.size(); ++i)
    values.data()[i] = static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(i), 7)) - 3;
  return values;
}

void Execution::load(Tensor tensor, Phase phase, const Matrix& whole) {
  const Part all{whole, whole_box(slices_.op(), tensor)};
  for (std::size_t i = 0; i < devices_.size(); ++i) {
    if (has(i)) devices_[i][tensor] = extract(all, slices_.box(tensor, static_cast<int>(i), phase, 0)).values;
  }
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
    std::vector<Matrix> computed(devices_.size());  // while the sums travel
    for (std::size_t i = 0; i < devices_.size(); ++i) {
      if (has(i)) computed[i] = product(devices_[i], phase, static_cast<int>(i), step);
    }
    move(step, true);
    for (std::size_t i = 0; i < devices_.size(); ++i) {
      if (!has(i)) continue;
      if (step > 0) computed[i] += devices_[i][sum];
      devices_[i][sum] = std::move(computed[i]);
    }
  }
  reduce(phase);
}

/// Dimensions that all three tensors have, outermost in each, number products of their own.
Matrix Execution::product(const Buffers& own, Phase phase, int device, int step) const {
  const std::vector<Range> ranges = slices_.ranges(device, phase, step);
  const bool is_matmul = slices_.op().kind == Kind::matmul;
  const std::int64_t batches = is_matmul ? ranges[0].size() * ranges[1].size() : 1;
  const auto [left, right, sum] = product_of(phase);
  const Matrix &a = own[left], &b = own[right];
  Matrix found;
  for (std::int64_t i = 0; i < batches; ++i) {
    const std::int64_t of_a = a.rows() / batches, of_b = b.rows() / batches;
    const auto one = a.middleRows(i * of_a, of_a), other = b.middleRows(i * of_b, of_b);
    Matrix each;
    if (phase == Phase::forward) each = one * other;
    if (phase == Phase::backward) each = one * other.transpose();
    if (phase == Phase::gradient) each = one.transpose() * other;
    if (i == 0) found.resize(batches * each.rows(), each.cols());
    found.middleRows(i * each.rows(), each.rows()) = each;
  }
  return found;
}

void Execution::transfer(const std::vector<Move>& moves, const Moment& before, const Moment& after) {
  const auto buffer = [&](int device) -> Matrix& { return devices_[static_cast<std::size_t>(device)][before.tensor]; };
  std::vector<Message> messages;
  for (const Move& move : moves) {
    messages.push_back({move.from, move.to, carrier_.has(move.from) ? buffer(move.from) : Matrix()});
    traffic_.sent += messages.back().values.size();
  }
  for (const Move& move : moves) {
    const bool still_needed =
        slices_.key(slices_.op().dimensions_of(before.tensor), move.from, before.phase, before.step) ==
        slices_.key(slices_.op().dimensions_of(after.tensor), move.from, after.phase, after.step);
    if (!still_needed) buffer(move.from).setConstant(poison);
  }
  carrier_.carry(messages);
  for (std::size_t i = 0; i < moves.size(); ++i) {
    if (!carrier_.has(moves[i].to)) continue;
    buffer(moves[i].to) = std::move(messages[i].values);
    traffic_.received += buffer(moves[i].to).size();
    traffic_.derived += moves[i].elements;
  }
}

/// To the first of each group, which adds, and back.
void Execution::reduce(Phase phase) {
  const AllReduce derived = all_reduce(slices_, phase);
  const auto buffer = [&](int device) -> Matrix& { return devices_[static_cast<std::size_t>(device)][derived.tensor]; };
  std::vector<Message> parts, sums;
  for (const std::vector<int>& group : derived.groups) {
    for (std::size_t i = 1; i < group.size(); ++i)
      parts.push_back({group[i], group[0], carrier_.has(group[i]) ? buffer(group[i]) : Matrix()});
  }
  carrier_.carry(parts);
  for (const Message& part : parts) {
    if (carrier_.has(part.to)) buffer(part.to) += part.values;
  }
  for (const Message& part : parts)
    sums.push_back({part.to, part.from, carrier_.has(part.to) ? buffer(part.to) : Matrix()});
  carrier_.carry(sums);
  for (Message& sum : sums) {
    if (carrier_.has(sum.to)) buffer(sum.to) = std::move(sum.values);
  }
}

std::vector<Part> Execution::parts(Tensor tensor, Phase ended) const {
  const std::vector<Box> held = boxes(slices_, tensor, ended, slices_.steps() - 1);
  std::vector<Part> found;
  for (std::size_t i = 0; i < devices_.size(); ++i) found.push_back({devices_[i][tensor], held[i]});
  return found;
}

bool Execution::holds(Tensor tensor, Phase ended, const Matrix& whole) const {
  const Part all{whole, whole_box(slices_.op(), tensor)};
  const std::vector<Part> held = parts(tensor, ended);
  for (std::size_t i = 0; i < held.size(); ++i) {
    if (has(i) && extract(all, held[i].box).values != held[i].values) return false;
  }
  return true;
}

std::vector<Part> redistributed(const std::vector<Part>& held, const std::vector<Box>& needed,
                                const std::vector<Piece>& pieces, Carrier& carrier, Traffic& traffic) {
  std::vector<Part> found;
  for (std::size_t device = 0; device < needed.size(); ++device) {
    found.push_back(carrier.has(static_cast<int>(device)) ? poisoned(needed[device]) : Part{{}, needed[device]});
    Box own;
    for (std::size_t i = 0; i < needed[device].size(); ++i) {
      const Range &a = held[device].box[i], &b = needed[device][i];
      own.push_back({std::max(a.begin, b.begin), std::max(std::max(a.begin, b.begin), std::min(a.end, b.end))});
    }
    if (carrier.has(static_cast<int>(device)) && elements_of(own) > 0) copy(held[device], own, found.back());
  }
  std::vector<Message> messages;
  for (const Piece& piece : pieces) {
    const Part& from = held[static_cast<std::size_t>(piece.from)];
    messages.push_back(
        {piece.from, piece.to, carrier.has(piece.from) ? extract(from, box_of(piece.region)).values : Matrix()});
    traffic.sent += messages.back().values.size();
  }
  carrier.carry(messages);
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    if (!carrier.has(pieces[i].to)) continue;
    const Part message{std::move(messages[i].values), box_of(pieces[i].region)};
    copy(message, message.box, found[static_cast<std::size_t>(pieces[i].to)]);
    traffic.received += elements_of(message.box);
    traffic.derived += pieces[i].elements();
  }
  return found;
}

SharedTensor::SharedTensor(const Operator& producer, const TensorView& made) {
  std::vector<Range> whole;
  for (const Dimension& dimension : producer.dimensions) whole.push_back({0, dimension.extent});
  for (const AxisView& axis : made) extents_.push_back(ranges_of(axis, whole).back().end);
}

/// A place is a sum over the operator's dimensions: each counts as its stride along an axis, and that axis as all
/// inside.
template <class Visit>
void SharedTensor::each(const Operator& op, Tensor tensor, const TensorView& view, const Part& part,
                        const Visit& visit) const {
  std::vector<std::int64_t> weights(op.dimensions.size(), 0);
  std::int64_t offset = 0, inside = 1;
  for (std::size_t axis = view.size(); axis-- > 0; inside *= extents_[axis]) {
    offset += inside * view[axis].offset;
    for (const AxisView::Run& run : view[axis].runs)
      weights[static_cast<std::size_t>(run.dimension)] += inside * run.stride;
  }
  const std::vector<int>& own = op.dimensions_of(tensor);
  const Range& columns = part.box.back();
  const std::int64_t step = weights[static_cast<std::size_t>(own.back())];
  each_row(part.box, [&](const std::vector<std::int64_t>& at) {
    std::int64_t place = offset + columns.begin * step;
    for (std::size_t i = 0; i < at.size(); ++i) place += at[i] * weights[static_cast<std::size_t>(own[i])];
    const std::int64_t row = row_in(part.box, at);
    for (std::int64_t column = 0; column < columns.size(); ++column, place += step)
      visit(static_cast<std::size_t>(place), row, column);
  });
}

SharedTensor::Known SharedTensor::known(const Operator& op, Tensor tensor, const TensorView& view,
                                        const Part& part) const {
  std::int64_t count = 1;
  for (const std::int64_t extent : extents_) count *= extent;
  Known found{std::vector<char>(static_cast<std::size_t>(count), 0),
              std::vector<std::int64_t>(static_cast<std::size_t>(count), poison)};
  each(op, tensor, view, part, [&](std::size_t place, std::int64_t row, std::int64_t column) {
    found.has[place] = 1;
    found.values[place] = part.values(row, column);
  });
  return found;
}

void SharedTensor::fill(const Known& known, const Operator& op, Tensor tensor, const TensorView& view,
                        Part& part) const {
  each(op, tensor, view, part, [&](std::size_t place, std::int64_t row, std::int64_t column) {
    if (known.has[place] != 0) part.values(row, column) = known.values[place];
  });
}

std::vector<std::size_t> SharedTensor::places(const Region& region) const {
  std::vector<std::size_t> found{0};
  for (std::size_t axis = 0; axis < region.size(); ++axis) {
    std::vector<std::size_t> inside;
    for (const std::size_t place : found) {
      for (const Range& range : region[axis]) {
        for (std::int64_t i = range.begin; i < range.end; ++i)
          inside.push_back(place * static_cast<std::size_t>(extents_[axis]) + static_cast<std::size_t>(i));
      }
    }
    found = std::move(inside);
  }
  return found;
}

void SharedTensor::carry(std::vector<Known>& devices, const std::vector<Piece>& pieces, Carrier& carrier,
                         Traffic& traffic) const {
  std::vector<Message> messages;
  for (const Piece& piece : pieces) {
    messages.push_back({piece.from, piece.to, {}});
    if (!carrier.has(piece.from)) continue;
    const std::vector<std::size_t> sent = places(piece.region);
    Matrix& values = messages.back().values;
    values.resize(1, static_cast<std::int64_t>(sent.size()));
    for (std::size_t i = 0; i < sent.size(); ++i)
      values(0, static_cast<std::int64_t>(i)) = devices[static_cast<std::size_t>(piece.from)].values[sent[i]];
    traffic.sent += values.size();
  }
  carrier.carry(messages);
  for (std::size_t number = 0; number < pieces.size(); ++number) {
    if (!carrier.has(pieces[number].to)) continue;
    Known& receiver = devices[static_cast<std::size_t>(pieces[number].to)];
    const std::vector<std::size_t> came = places(pieces[number].region);
    for (std::size_t i = 0; i < came.size(); ++i) {
      receiver.has[came[i]] = 1;
      receiver.values[came[i]] = messages[number].values(0, static_cast<std::int64_t>(i));
    }
    traffic.received += messages[number].values.size();
    traffic.derived += pieces[number].elements();
  }
}

}  // namespace tessera::strategy::primepar
