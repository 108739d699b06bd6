#include "transfers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <tuple>

#include "tessera/base/error.hpp"

namespace tessera::strategy::primepar {
namespace {

/// The devices at each slice, in order.
using Holders = std::map<std::int64_t, std::vector<int>>;

Holders holders(const std::vector<std::int64_t>& layout) {
  Holders found;
  for (std::size_t device = 0; device < layout.size(); ++device)
    found[layout[device]].push_back(static_cast<int>(device));
  return found;
}

/// Of more than one device each, by their smallest member.
std::vector<std::vector<int>> sharing(const std::vector<std::int64_t>& layout) {
  std::vector<std::vector<int>> groups;
  for (auto& [key, members] : holders(layout)) {
    if (members.size() > 1) groups.push_back(members);
  }
  std::sort(groups.begin(), groups.end());
  return groups;
}

/// The devices that add parts of the same sums of a streaming operator, by the dimensions that these have. Those that
/// differ in R have the same parts.
std::vector<std::vector<int>> repeated_sums(const Slices& slices, std::vector<int> dimensions) {
  dimensions.push_back(slices.op().dimension_count() - 1);  // R
  std::vector<std::int64_t> keys;
  for (int device = 0; device < slices.devices(); ++device)
    keys.push_back(slices.key(dimensions, device, Phase::forward, 0));
  return sharing(keys);
}

std::vector<std::int64_t> layout(const Slices& slices, const Moment& moment) {
  return slices.layout(moment.tensor, moment.phase, moment.step);
}

int around(int from, int to, int side) {
  const int ahead = std::abs(to - from);
  return std::min(ahead, side - ahead);
}

/// Steps between neighbours on the torus of every P.
int torus_distance(const Slices& slices, int from, int to) {
  const std::vector<Place> a = slices.places(from), b = slices.places(to);
  int distance = 0;
  std::size_t i = 0;
  for (const Primitive& primitive : slices.partition()) {
    if (!primitive.is_square()) continue;
    const int side = 1 << primitive.log_side;
    distance += around(a[i].row, b[i].row, side) + around(a[i].column, b[i].column, side);
    ++i;
  }
  return distance;
}

int nearest(const Slices& slices, const std::vector<int>& holders, int device) {
  const auto cost = [&](int holder) {
    return std::tuple(slices.cut_bits(holder) ^ slices.cut_bits(device), torus_distance(slices, holder, device),
                      holder);
  };
  return *std::min_element(holders.begin(), holders.end(), [&](int a, int b) { return cost(a) < cost(b); });
}

/// A partial sum lives once: it goes to exactly one device, or stays.
void check_sums_survive(const Slices& slices, const std::vector<Move>& moves, const Moment& after) {
  std::vector<int> left(static_cast<std::size_t>(slices.devices()), 0), came = left;
  for (const Move& move : moves) {
    ++left[static_cast<std::size_t>(move.from)];
    ++came[static_cast<std::size_t>(move.to)];
  }
  if (left != came || std::any_of(left.begin(), left.end(), [](int count) { return count > 1; }))
    throw InternalError(fmt::format("{}: a sum of {} is lost or counted twice into step {}",
                                    to_text(slices.op(), slices.partition()), name_of(after.tensor), after.step));
}

}  // namespace

std::vector<Move> moves_between(const Slices& slices, const Moment& before, const Moment& after) {
  const std::vector<std::int64_t> has = layout(slices, before), needs = layout(slices, after);
  if (has == needs) return {};
  const Holders sources = holders(has);
  std::vector<Move> moves;
  for (int device = 0; device < slices.devices(); ++device) {
    const auto i = static_cast<std::size_t>(device);
    if (has[i] == needs[i]) continue;
    const auto found = sources.find(needs[i]);
    if (found == sources.end())
      throw InternalError(fmt::format("{}: no device has the slice of {} that device {} needs",
                                      to_text(slices.op(), slices.partition()), name_of(after.tensor), device));
    moves.push_back({nearest(slices, found->second, device), device,
                     elements_of(slices.box(after.tensor, device, after.phase, after.step))});
  }
  return moves;
}

std::vector<StepTransfer> step_transfers(const Slices& slices, Phase phase) {
  const Product product = product_of(phase);
  std::vector<StepTransfer> found;
  for (int step = 1; step < slices.steps(); ++step) {
    for (const Tensor tensor : {product.left, product.right, product.sum}) {
      const Moment after{tensor, phase, step};
      std::vector<Move> moves = moves_between(slices, {tensor, phase, step - 1}, after);
      const bool is_sum = tensor == product.sum;
      if (is_sum) check_sums_survive(slices, moves, after);
      if (!moves.empty()) found.push_back({tensor, step, is_sum, std::move(moves)});
    }
  }
  return found;
}

std::vector<Alignment> alignments(const Slices& slices) {
  const int last = slices.steps() - 1;
  std::vector<Alignment> found;
  const auto add = [&](Tensor from, Phase ends, Tensor to, Phase begins) {
    const Moment before{from, ends, last}, after{to, begins, 0};
    found.push_back({before, after, moves_between(slices, before, after)});
  };
  add(Tensor::weight, Phase::forward, Tensor::weight, Phase::backward);
  add(Tensor::output, Phase::forward, Tensor::output_gradient, Phase::backward);
  add(Tensor::input, Phase::forward, Tensor::input, Phase::gradient);
  add(Tensor::output_gradient, Phase::backward, Tensor::output_gradient, Phase::gradient);
  add(Tensor::weight, Phase::backward, Tensor::weight, Phase::forward);
  add(Tensor::weight_gradient, Phase::gradient, Tensor::weight, Phase::forward);
  return found;
}

AllReduce all_reduce(const Slices& slices, Phase phase) {
  const Moment end{product_of(phase).sum, phase, slices.steps() - 1};
  const Operator& op = slices.op();
  const bool streams = op.kind == Kind::streaming;
  if (!op.works_in(phase) || (streams && phase != Phase::gradient)) return {end.tensor, {}, {}};
  AllReduce found{end.tensor, streams ? repeated_sums(slices, op.tensors[1]) : sharing(layout(slices, end)), {}};
  for (const std::vector<int>& group : found.groups)
    found.elements.push_back(elements_of(slices.box(end.tensor, group.front(), phase, end.step)));
  return found;
}

std::vector<std::vector<int>> statistics_groups(const Slices& slices) {
  return slices.op().statistics.empty() ? std::vector<std::vector<int>>{}
                                        : repeated_sums(slices, slices.op().statistics);
}

int replication(const Slices& slices, const Moment& moment) {
  const Holders found = holders(layout(slices, moment));
  const std::size_t copies = found.begin()->second.size();
  for (const auto& [key, members] : found) {
    if (members.size() != copies) throw InternalError("slices of a tensor are held by different numbers of devices");
  }
  return static_cast<int>(copies);
}

}  // namespace tessera::strategy::primepar
