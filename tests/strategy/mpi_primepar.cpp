// The proofs by execution with devices on several ranks: what a device sends is an MPI message.
#include <mpi.h>

#include <catch2/catch.hpp>
#include <deque>

#include "primepar_attention.hpp"
#include "primepar_linears.hpp"

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
  [[nodiscard]] bool has_all() const override { return ranks_ == 1; }
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

TEST_CASE("primepar: every sequence of one linear on 16 devices trains exactly with MPI messages") {
  const Operator op = linear("odd", 17, 19, 18, 21);
  OverRanks ranks;
  const std::vector<Partition> all = all_partitions(op, 4);
  REQUIRE(all.size() == 306);
  for (const Partition& partition : all) {
    CAPTURE(to_text(op, partition));
    train_linear({op, partition, 4}, ranks);
  }
  CHECK((ranks.messages() > 0) == !ranks.has_all());
}

TEST_CASE("primepar: P(8x8) trains exactly with MPI messages") {
  const Operator op = linear("fc", 3, 17, 18, 19);
  OverRanks ranks;
  train_linear({op, parse_partition(op, "{P(8x8)}"), 6}, ranks);
}

// Ranks that wait for each other on few cores take milliseconds a message: not all pairs, and not all blocks.
TEST_CASE("primepar: pairs of sequences of an MLP on eight devices train exactly with MPI messages") {
  const Operator fc1 = linear("fc1", 8, 8, 8, 11), fc2 = linear("fc2", 8, 8, 11, 8);
  const ExpectedMlp expected(fc1, fc2);
  const std::vector<Partition> firsts = all_partitions(fc1, 3), seconds = all_partitions(fc2, 3);
  OverRanks ranks;
  for (std::size_t pair = 0; pair < firsts.size() * seconds.size();
       pair += 17) {  // each sequence of both several times
    const Partition &p1 = firsts[pair / seconds.size()], &p2 = seconds[pair % seconds.size()];
    CAPTURE(to_text(fc1, p1), to_text(fc2, p2));
    train_mlp({fc1, p1, 3}, {fc2, p2, 3}, expected, ranks);
  }
}

TEST_CASE("primepar: random partitions of an attention block train exactly with MPI messages") {
  const AttentionBlock block;
  OverRanks ranks;
  for (std::uint64_t number = 0; number < 100; ++number) {
    CAPTURE(number);
    block.train(block.draw(4, number), 4, ranks);
  }
}
