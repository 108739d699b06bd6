// A partitioned linear operator on real matrices of integers: a device computes from its own buffers, and what comes
// into them is what the derived transfers carry.
#pragma once

#include <Eigen/Core>
#include <array>
#include <cstdint>
#include <vector>

#include "primepar_torus.hpp"
#include "strategy/primepar/redistribution.hpp"
#include "strategy/primepar/transfers.hpp"

namespace tessera::strategy::primepar {

using Matrix = Eigen::Matrix<std::int64_t, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

/// Overwrites what a device sent away and what it never got; no sum with it in it comes out right.
inline constexpr std::int64_t poison = 1'000'003;

/// From -3 to 3, a function of the stream's name and the shape alone.
[[nodiscard]] Matrix small_integers(const char* stream, std::int64_t rows, std::int64_t columns);

/// Part of a tensor as a matrix: its last dimension are the columns, those before it the rows, outermost first.
struct Part {
  Matrix values;
  Box box;
};

/// Elements in messages.
struct Traffic {
  std::int64_t sent = 0, received = 0, derived = 0;
};

/// All that a device computes with: one buffer a tensor.
class Buffers {
 public:
  Matrix& operator[](Tensor tensor) { return matrices_[static_cast<std::size_t>(tensor)]; }
  const Matrix& operator[](Tensor tensor) const { return matrices_[static_cast<std::size_t>(tensor)]; }

 private:
  std::array<Matrix, 6> matrices_;
};

/// One linear operator on all of its devices.
class Execution {
 public:
  explicit Execution(const Slices& slices) : slices_(slices), devices_(static_cast<std::size_t>(slices.devices())) {}

  /// Puts slices into the devices' buffers, as a phase begins with them: of a whole tensor, or part by part.
  void load(Tensor tensor, Phase phase, const Matrix& whole);
  void load(Tensor tensor, std::vector<Part> parts);

  /// Moves what this phase begins with from where other phases left it.
  void align(Phase begins);
  /// All steps of a phase, then its all-reduce.
  void run(Phase phase);

  /// Changes every device by itself: change(Buffers&).
  template <class Change>
  void locally(const Change& change) {
    for (Buffers& device : devices_) change(device);
  }

  /// The slices of a tensor that a phase ends with, by device, and ...
  [[nodiscard]] std::vector<Part> parts(Tensor tensor, Phase ended) const;
  /// ... put together; all devices that hold a slice must have the same.
  [[nodiscard]] Matrix gathered(Tensor tensor, Phase ended) const;

  [[nodiscard]] const Traffic& traffic() const { return traffic_; }

 private:
  [[nodiscard]] std::vector<Matrix> products(Phase phase) const;
  void transfer(const std::vector<Move>& moves, const Moment& before, const Moment& after);
  void reduce(Phase phase);

  const Slices& slices_;
  std::vector<Buffers> devices_;
  Traffic traffic_;
};

/// What the devices need, of what they hold themselves and the pieces that are sent to them.
[[nodiscard]] std::vector<Part> redistributed(const std::vector<Part>& held, const std::vector<Box>& needed,
                                              const std::vector<Piece>& pieces, Traffic& traffic);

}  // namespace tessera::strategy::primepar
