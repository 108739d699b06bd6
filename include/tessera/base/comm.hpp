// The communicator that every layer above base uses; MPI stays behind it (DESIGN section 2).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace tessera {

using ByteVector = std::vector<std::byte>;

/// A group of ranks. Every member calls each operation, in the same order.
class Communicator {
 public:
  virtual ~Communicator() = default;
  [[nodiscard]] virtual int rank() const = 0;
  [[nodiscard]] virtual int size() const = 0;
  // Bytes; values of any type travel by base/messages.hpp.
  /// Rank 0's, on every rank.
  [[nodiscard]] virtual ByteVector broadcast(ByteVector bytes) = 0;
  /// Every rank's in rank order on rank 0; empty elsewhere.
  [[nodiscard]] virtual std::vector<ByteVector> gather(const ByteVector& bytes) = 0;
  /// The same on every rank.
  [[nodiscard]] virtual std::vector<ByteVector> all_gather(const ByteVector& bytes) = 0;
  /// Of every rank, in rank order, what it has for this one. `bytes`: for every rank, in rank order.
  [[nodiscard]] virtual std::vector<ByteVector> all_to_all(const std::vector<ByteVector>& bytes) = 0;
  [[nodiscard]] virtual std::int64_t min(std::int64_t value) = 0;
  [[nodiscard]] virtual std::int64_t max(std::int64_t value) = 0;
  [[nodiscard]] virtual std::int64_t sum(std::int64_t value) = 0;
  virtual void barrier() = 0;
  /// The ranks that give the same colour as a communicator of their own, in this one's order. `colour` >= 0.
  [[nodiscard]] virtual std::unique_ptr<Communicator> split(int colour) = 0;
  /// The MPI_Comm behind it, for the few places that include mpi.h (DESIGN section 2); null: one process without MPI.
  [[nodiscard]] virtual void* native() { return nullptr; }
};

/// Items begin .. end-1.
struct WorkRange {
  std::size_t begin = 0, end = 0;
};
/// Which of `count` items a rank of so many works on: the ranks' ranges follow each other.
[[nodiscard]] inline WorkRange work_of(std::size_t count, int rank, int ranks) {
  const auto at = static_cast<std::size_t>(rank), all = static_cast<std::size_t>(ranks);
  return {count * at / all, count * (at + 1) / all};
}

/// One rank, no MPI: `check`, `show`, tests, and builds of a single process.
[[nodiscard]] std::unique_ptr<Communicator> make_serial_communicator();

/// MPI_Init on construction, MPI_Finalize on destruction; world() spans a duplicate of MPI_COMM_WORLD.
/// At most one per process. Works without mpirun (one rank). Where MPI runs already it is used, and left running.
class MpiSession {
 public:
  MpiSession(int& argc, char**& argv);
  ~MpiSession();
  MpiSession(const MpiSession&) = delete;
  MpiSession& operator=(const MpiSession&) = delete;
  [[nodiscard]] Communicator& world() { return *world_; }
  /// Ends all ranks at once with this exit code; for a rank that cannot reach the next synchronisation.
  [[noreturn]] void abort(int exit_code);

 private:
  std::unique_ptr<Communicator> world_;
  bool owns_mpi_ = false;
};

}  // namespace tessera
