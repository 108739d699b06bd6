// The one definition of the loops, for files that are compiled for different processors. Each of them has its own copy
// in an anonymous namespace, and calls nothing of other headers: functions of one name that were compiled for different
// processors would be taken for each other when the program is linked.
#pragma once

#include "cost_loops.hpp"

namespace tessera::strategy::primepar {
namespace {

struct AnyCostLoops {
  static constexpr std::size_t lanes = 4, block = 32;
  using Lanes = double __attribute__((vector_size(lanes * sizeof(double))));

  static void difference(Lanes& found, const double* a, const double* b) {
    Lanes one, other;
    __builtin_memcpy(&one, a, sizeof one);
    __builtin_memcpy(&other, b, sizeof other);
    found = one - other;
  }

  static double lesser(double a, double b) { return b < a ? b : a; }
  static double greater(double a, double b) { return a < b ? b : a; }

  /// Two rows by four: what is read of `after` is used twice, and `best` is read and written once for four.
  static void relax_two_by_four(double* __restrict best0, double* __restrict best1, const double* before0,
                                const double* before1, const double* __restrict after, std::size_t stride,
                                std::size_t columns) {
    const double a0 = before0[0], a1 = before0[1], a2 = before0[2], a3 = before0[3];
    const double c0 = before1[0], c1 = before1[1], c2 = before1[2], c3 = before1[3];
    const double *b0 = after, *b1 = b0 + stride, *b2 = b1 + stride, *b3 = b2 + stride;
    for (std::size_t j = 0; j < columns; ++j) {
      const double first = lesser(lesser(a0 + b0[j], a1 + b1[j]), lesser(a2 + b2[j], a3 + b3[j]));
      const double second = lesser(lesser(c0 + b0[j], c1 + b1[j]), lesser(c2 + b2[j], c3 + b3[j]));
      best0[j] = lesser(best0[j], first);
      best1[j] = lesser(best1[j], second);
    }
  }

  static void relax_one(double* __restrict best, double before, const double* __restrict after, std::size_t columns) {
    for (std::size_t j = 0; j < columns; ++j) best[j] = lesser(best[j], before + after[j]);
  }

  static void relax(const RelaxedBlock& block) {
    const std::size_t pairs = block.rows - block.rows % 2, fours = block.inner - block.inner % 4;
    for (std::size_t i = 0; i < block.rows; ++i) {
      double* best = block.best + i * block.best_stride;
      const double* before = block.before + i * block.before_stride;
      for (std::size_t k = 0; i < pairs && i % 2 == 0 && k < fours; k += 4)
        relax_two_by_four(best, best + block.best_stride, before + k, before + block.before_stride + k,
                          block.after + k * block.after_stride, block.after_stride, block.columns);
      for (std::size_t k = i < pairs ? fours : 0; k < block.inner; ++k)
        relax_one(best, before[k], block.after + k * block.after_stride, block.columns);
    }
  }

  static double most_difference(const double* a, const double* b, std::size_t count, double enough) {
    double most = -__builtin_inf();
    std::size_t k = 0;
    for (; k + block <= count && most <= enough; k += block) {
      Lanes each[block / lanes];
      for (std::size_t i = 0; i < block / lanes; ++i) difference(each[i], a + k + i * lanes, b + k + i * lanes);
      for (std::size_t half = block / lanes / 2; half > 0; half /= 2) {
        for (std::size_t i = 0; i < half; ++i) each[i] = each[i] < each[i + half] ? each[i + half] : each[i];
      }
      for (std::size_t lane = 0; lane < lanes; ++lane) most = greater(most, each[0][lane]);
    }
    for (; k < count && most <= enough; ++k) most = greater(most, a[k] - b[k]);
    return most;
  }

  static CostLoops all() { return {relax, most_difference}; }
};

}  // namespace
}  // namespace tessera::strategy::primepar
