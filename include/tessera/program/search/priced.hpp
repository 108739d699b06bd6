// The fastest plan that fits, where a search can find the best one for time + price x what is scarce (Lagrange
// multipliers; Everett, Operations Research 11(3), 1963).
#pragma once

#include <cstdint>
#include <functional>
#include <utility>

#include "tessera/base/time.hpp"

namespace tessera::program::search {

/// Plans of any kind, by what a unit of what is scarce costs, in ps.
template <class Plan>
struct PricedPlans {
  std::function<Plan(std::int64_t price)> at;     ///< the best at that price
  std::function<Time(const Plan&)> cost;          ///< without the price
  std::function<std::int64_t(const Plan&)> held;  ///< units
  std::function<bool(const Plan&)> fits;
};

inline constexpr Time close_enough = 1024;  ///< as a part of a plan's time
inline constexpr int most_prices = 16;

/// The fastest that prices find between `small`, which fits, and `fast`, which is faster and does not. The price at
/// which both cost the same finds one that beats both at that price, or none is between them that a price finds.
template <class Plan>
[[nodiscard]] Plan fastest_between(const PricedPlans<Plan>& plans, Plan small, Plan fast) {
  std::int64_t price = 0;
  for (int tried = 0; tried < most_prices; ++tried) {
    const Time gain = plans.cost(small) - plans.cost(fast);
    if (gain <= plans.cost(small) / close_enough) break;
    const std::int64_t more = plans.held(fast) - plans.held(small);
    const std::int64_t next = more <= 0 ? price : (gain + more - 1) / more;
    if (next == price) break;
    price = next;
    Plan middle = plans.at(price);
    const auto worth = [&](const Plan& plan) {
      return static_cast<double>(plans.cost(plan)) + static_cast<double>(price) * static_cast<double>(plans.held(plan));
    };
    if (worth(middle) >= worth(small)) break;
    (plans.fits(middle) ? small : fast) = std::move(middle);
  }
  return small;
}

}  // namespace tessera::program::search
