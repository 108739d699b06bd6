// Amounts with types of their own, for the borders of machine/ and program/: arguments that change places do not
// compile there. What computes with an amount takes its value().
#pragma once

#include <compare>
#include <cstdint>

#include "tessera/base/time.hpp"

namespace tessera {

/// A count of one unit, made explicitly: Bytes{4096}. Sums are of like amounts, factors are plain numbers.
template <class Unit>
class Quantity {
 public:
  constexpr Quantity() = default;
  constexpr explicit Quantity(std::int64_t value) : value_(value) {}

  [[nodiscard]] constexpr std::int64_t value() const { return value_; }

  auto operator<=>(const Quantity&) const = default;

  constexpr Quantity& operator+=(Quantity other) { return *this = *this + other; }
  constexpr Quantity& operator-=(Quantity other) { return *this = *this - other; }
  constexpr Quantity& operator*=(std::int64_t factor) { return *this = *this * factor; }

  friend constexpr Quantity operator+(Quantity a, Quantity b) { return Quantity{a.value_ + b.value_}; }
  friend constexpr Quantity operator-(Quantity a, Quantity b) { return Quantity{a.value_ - b.value_}; }
  friend constexpr Quantity operator*(Quantity a, std::int64_t factor) { return Quantity{a.value_ * factor}; }
  friend constexpr Quantity operator*(std::int64_t factor, Quantity a) { return a * factor; }
  friend constexpr Quantity operator/(Quantity a, std::int64_t parts) { return Quantity{a.value_ / parts}; }
  /// How often `b` fits into `a`, and what is left.
  friend constexpr std::int64_t operator/(Quantity a, Quantity b) { return a.value_ / b.value_; }
  friend constexpr Quantity operator%(Quantity a, Quantity b) { return Quantity{a.value_ % b.value_}; }

 private:
  std::int64_t value_ = 0;
};

namespace unit {
struct Byte;
struct FloatingPointOperation;
struct Picosecond;
struct Micrometre;
template <class Amount>
struct PerSecond;
}  // namespace unit

using Bytes = Quantity<unit::Byte>;
using BytesPerSecond = Quantity<unit::PerSecond<unit::Byte>>;
using Flop = Quantity<unit::FloatingPointOperation>;
using FlopPerSecond = Quantity<unit::PerSecond<unit::FloatingPointOperation>>;
/// In ps, as a description states it. What is simulated counts in Time.
using Duration = Quantity<unit::Picosecond>;
/// In um: sizes of dies and wafers.
using Length = Quantity<unit::Micrometre>;

/// Time that `amount` takes at `rate`, rounded up to a whole picosecond, and at most `never`. The product is formed in
/// 128 bits. rate > 0, amount >= 0.
template <class Amount>
[[nodiscard]] constexpr Time duration_at_rate(Quantity<Amount> amount, Quantity<unit::PerSecond<Amount>> rate) {
  const auto scaled = static_cast<Uint128>(amount.value()) * static_cast<Uint128>(second);
  const auto divisor = static_cast<Uint128>(rate.value());
  const Uint128 duration = (scaled + divisor - 1) / divisor;
  return duration < static_cast<Uint128>(never) ? static_cast<Time>(duration) : never;
}

}  // namespace tessera
