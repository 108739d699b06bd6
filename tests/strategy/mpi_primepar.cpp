// The proofs by execution with devices on several ranks: what a device sends is an MPI message.
#include <mpi.h>

#include <catch2/catch.hpp>
#include <deque>

#include "primepar_attention.hpp"

using namespace tessera::strategy::primepar;

namespace {

/// Devices dealt out in turn.
class OverRanks final : public Carrier {
 public:
  OverRanks() {
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks_);
  }
  [[nodiscard]] bool has(int device) const override { return owner(device) == rank_; }
  [[nodiscard]] std::int64_t messages() const { return messages_; }

  /// Messages between two ranks are received in the order in which they are sent; rows and columns go before each.
  void carry(std::vector<Message>& messages) override {
    std::vector<MPI_Request> requests;
    std::deque<std::array<std::int64_t, 2>> shapes;  // stay where they are
    std::vector<Matrix> sent;
    sent.reserve(messages.size());
    for (Message& message : messages) {
      if (!has(message.from) || has(message.to)) continue;
      sent.push_back(std::move(message.values));
      shapes.push_back({sent.back().rows(), sent.back().cols()});
      send(shapes.back().data(), 2, message.to, requests);
      send(sent.back().data(), sent.back().size(), message.to, requests);
    }
    for (Message& message : messages) {
      if (has(message.from) || !has(message.to)) continue;
      std::array<std::int64_t, 2> shape{};
      receive(shape.data(), 2, message.from);
      message.values.resize(shape[0], shape[1]);
      receive(message.values.data(), message.values.size(), message.from);
      ++messages_;
    }
    MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
  }

 private:
  [[nodiscard]] int owner(int device) const { return device % ranks_; }
  void send(const std::int64_t* values, std::int64_t size, int to, std::vector<MPI_Request>& requests) const {
    requests.emplace_back();
    MPI_Isend(values, static_cast<int>(size), MPI_INT64_T, owner(to), 0, MPI_COMM_WORLD, &requests.back());
  }
  void receive(std::int64_t* values, std::int64_t size, int from) const {
    MPI_Recv(values, static_cast<int>(size), MPI_INT64_T, owner(from), 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }

  int rank_ = 0, ranks_ = 1;
  std::int64_t messages_ = 0;
};

}  // namespace

TEST_CASE("primepar: every sequence of one linear on eight devices trains exactly with MPI messages") {
  const Operator op = linear("fc", 8, 9, 10, 11);
  const Matrix input = small_integers("I", 72, 10), weight = small_integers("W", 10, 11);
  const Matrix gradient = small_integers("dO", 72, 11);
  OverRanks ranks;
  for (const Partition& partition : all_partitions(op, 3)) {
    CAPTURE(to_text(op, partition));
    const Slices slices(op, partition, 3);
    Execution run(slices, ranks);
    run.load(Tensor::weight, Phase::forward, weight);
    run.load(Tensor::input, Phase::forward, input);
    run.run(Phase::forward);
    REQUIRE(run.holds(Tensor::output, Phase::forward, input * weight));
    run.align(Phase::backward);
    run.load(Tensor::output_gradient, Phase::backward, gradient);
    run.run(Phase::backward);
    REQUIRE(run.holds(Tensor::input_gradient, Phase::backward, gradient * weight.transpose()));
    run.align(Phase::gradient);
    run.run(Phase::gradient);
    REQUIRE(run.holds(Tensor::weight_gradient, Phase::gradient, input.transpose() * gradient));
  }
  int size = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  CHECK((ranks.messages() > 0) == (size > 1));
}

TEST_CASE("primepar: random partitions of an attention block train exactly with MPI messages") {
  const AttentionBlock block;
  OverRanks ranks;
  for (std::uint64_t number = 0; number < 40; ++number) {
    CAPTURE(number);
    block.train(block.draw(4, number), 4, ranks);
  }
}
