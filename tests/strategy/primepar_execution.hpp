// Partitioned products on real matrices of integers: a device computes from its own buffers, and what comes into them
// is what the derived transfers carry, in the process or as MPI messages.
#pragma once

#include <Eigen/Core>
#include <array>
#include <cstdint>
#include <vector>

#include "primepar_torus.hpp"
#include "strategy/primepar/cuts/redistribution.hpp"
#include "strategy/primepar/cuts/transfers.hpp"

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
[[nodiscard]] Part poisoned(const Box& box);
/// A region that lies in the part.
[[nodiscard]] Part extract(const Part& from, const Box& region);
[[nodiscard]] Box whole_box(const Operator& op, Tensor tensor);

struct Message {
  int from = 0, to = 0;
  Matrix values;  ///< where this rank has the sender, then where it has the receiver
};

/// Who has which devices, and what brings messages from one to another.
class Carrier {
 public:
  virtual ~Carrier() = default;
  [[nodiscard]] virtual bool has(int device) const = 0;
  [[nodiscard]] virtual bool has_all() const = 0;
  /// All at a time: what is sent was there before. The same messages in the same order on every rank.
  virtual void carry(std::vector<Message>& messages) = 0;
};

/// All devices in this process.
class InProcess final : public Carrier {
 public:
  [[nodiscard]] bool has(int) const override { return true; }
  [[nodiscard]] bool has_all() const override { return true; }
  void carry(std::vector<Message>&) override {}
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

/// One product on all of its devices, those that the carrier has.
class Execution {
 public:
  Execution(const Slices& slices, Carrier& carrier)
      : slices_(slices), carrier_(carrier), devices_(static_cast<std::size_t>(slices.devices())) {}

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
    for (std::size_t i = 0; i < devices_.size(); ++i) {
      if (has(i)) change(devices_[i]);
    }
  }

  /// The slices of a tensor that a phase ends with, by device.
  [[nodiscard]] std::vector<Part> parts(Tensor tensor, Phase ended) const;
  /// Whether they are those of the whole tensor, on every device.
  [[nodiscard]] bool holds(Tensor tensor, Phase ended, const Matrix& whole) const;

  [[nodiscard]] const Traffic& traffic() const { return traffic_; }

 private:
  [[nodiscard]] bool has(std::size_t device) const { return carrier_.has(static_cast<int>(device)); }
  [[nodiscard]] Matrix product(const Buffers& own, Phase phase, int device, int step) const;
  void transfer(const std::vector<Move>& moves, const Moment& before, const Moment& after);
  void reduce(Phase phase);

  const Slices& slices_;
  Carrier& carrier_;
  std::vector<Buffers> devices_;
  Traffic traffic_;
};

/// What the carrier's devices need, of what they hold themselves and the pieces that are sent to them.
[[nodiscard]] std::vector<Part> redistributed(const std::vector<Part>& held, const std::vector<Box>& needed,
                                              const std::vector<Piece>& pieces, Carrier& carrier, Traffic& traffic);

/// The same through the views that both sides have of a shared tensor, by a carrier.
class SharedTensor {
 public:
  /// Which elements of the shared tensor a device has, and their values.
  struct Known {
    std::vector<char> has;
    std::vector<std::int64_t> values;
  };

  SharedTensor(const Operator& producer, const TensorView& made);
  /// What a device's part of an operator's tensor is of the shared one, ...
  [[nodiscard]] Known known(const Operator& op, Tensor tensor, const TensorView& view, const Part& part) const;
  /// ... and back: into `part`, as far as it is known.
  void fill(const Known& known, const Operator& op, Tensor tensor, const TensorView& view, Part& part) const;
  void carry(std::vector<Known>& devices, const std::vector<Piece>& pieces, Carrier& carrier, Traffic& traffic) const;

 private:
  template <class Visit>
  void each(const Operator& op, Tensor tensor, const TensorView& view, const Part& part, const Visit& visit) const;
  [[nodiscard]] std::vector<std::size_t> places(const Region& region) const;

  std::vector<std::int64_t> extents_;
};

}  // namespace tessera::strategy::primepar
