#include "all_to_all.hpp"

#include <cmath>
#include <numeric>

namespace tessera::program {
namespace {

/// Walks over the parts of a send buffer in order of destination: even chunks, or by the collective's shares.
/// Boundaries are rounded, not sizes, so that the parts add up to the buffer whatever the shares are.
class Parts {
 public:
  Parts(const Collective& collective, std::uint32_t size) : collective_(collective), size_(size) {
    sum_ = std::accumulate(collective.shares.begin(), collective.shares.end(), 0.0);
  }

  /// The part of the next destination.
  Data next() {
    const Data part = current();
    if (!collective_.shares.empty()) before_ += collective_.shares[destination_];
    ++destination_;
    return part;
  }

  /// The part of one destination, from the beginning.
  Data at(std::uint32_t destination) {
    if (collective_.shares.empty()) {
      destination_ = destination;
    } else {
      while (destination_ < destination) before_ += collective_.shares[destination_++];
    }
    return current();
  }

 private:
  [[nodiscard]] Data current() const {
    const std::vector<double>& shares = collective_.shares;
    if (shares.empty()) return chunk_of(collective_, size_, destination_);
    const std::int64_t begin = boundary(before_);
    const bool last = destination_ + 1 == size_;
    return {begin, (last ? collective_.bytes.value() : boundary(before_ + shares[destination_])) - begin, 0};
  }
  [[nodiscard]] std::int64_t boundary(double share) const {
    const std::int64_t elements = collective_.bytes / collective_.element;
    const auto rounded = static_cast<std::int64_t>(std::floor(static_cast<double>(elements) * (share / sum_) + 0.5));
    return std::min(rounded, elements) * collective_.element.value();
  }

  const Collective& collective_;
  std::uint32_t size_;
  std::uint32_t destination_ = 0;
  double before_ = 0;  // shares of the destinations before this one
  double sum_ = 0;
};

Data part_of(const CollectiveCall& call, std::uint32_t destination) {
  return Parts(*call.collective, call.size).at(destination);
}

}  // namespace

void all_to_all_exchange(const CollectiveCall& call, std::uint32_t distance, Step& step) {
  const std::uint32_t to = plus_modulo(call.rank, distance, call.size);
  const std::uint32_t from = minus_modulo(call.rank, distance, call.size);
  add_send(step, to, part_of(call, to));
  const std::int64_t received = part_of(call, call.rank).bytes;
  add_receive(step, from, {received * from, received, 0});
}

void all_to_all_at_once(const CollectiveCall& call, Step& step) {
  Parts parts(*call.collective, call.size);
  std::int64_t received = 0;
  for (std::uint32_t to = 0; to < call.size; ++to) {
    const Data part = parts.next();
    if (to == call.rank)
      received = part.bytes;
    else
      add_send(step, to, part);
  }
  std::rotate(step.sends.begin(), step.sends.begin() + call.rank, step.sends.end());
  for (std::uint32_t i = 1; i < call.size; ++i) {
    const std::uint32_t from = minus_modulo(call.rank, i, call.size);
    add_receive(step, from, {received * from, received, 0});
  }
}

}  // namespace tessera::program
