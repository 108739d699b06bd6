#include <mpi.h>

#include <algorithm>
#include <cstdlib>

#include "rounds.hpp"
#include "tessera/base/comm.hpp"
#include "tessera/base/error.hpp"
#include "tessera/base/memory_limit.hpp"

namespace tessera {

namespace {

/// MPI counts and displacements are ints: what is longer travels in rounds of this many bytes, all ranks together.
constexpr std::size_t most = std::size_t{1} << 30;

/// `call(begin, count)` for each such piece of what is long.
template <class Byte, class Call>
void in_pieces(Byte* bytes, std::size_t length, const Call& call) {
  for (std::size_t at = 0; at < length; at += most) call(bytes + at, static_cast<int>(std::min(most, length - at)));
}

class MpiCommunicator final : public Communicator {
 public:
  /// Frees it in the end.
  explicit MpiCommunicator(MPI_Comm own) : comm_(own) {
    MPI_Comm_rank(comm_, &rank_);
    MPI_Comm_size(comm_, &size_);
  }
  ~MpiCommunicator() override {
    int finalized = 0;
    MPI_Finalized(&finalized);
    if (finalized == 0) MPI_Comm_free(&comm_);
  }
  MpiCommunicator(const MpiCommunicator&) = delete;
  MpiCommunicator& operator=(const MpiCommunicator&) = delete;

  [[nodiscard]] int rank() const override { return rank_; }
  [[nodiscard]] int size() const override { return size_; }

  [[nodiscard]] ByteVector broadcast(ByteVector bytes) override {
    std::uint64_t length = bytes.size();
    MPI_Bcast(&length, 1, MPI_UINT64_T, 0, comm_);
    bytes.resize(length);
    in_pieces(bytes.data(), length, [&](std::byte* from, int count) { MPI_Bcast(from, count, MPI_BYTE, 0, comm_); });
    return bytes;
  }

  [[nodiscard]] std::vector<ByteVector> gather(const ByteVector& bytes) override {
    return collect(bytes, rank_ == 0, [&](const void* own, int count, const Share& share, ByteVector& round) {
      MPI_Gatherv(own, count, MPI_BYTE, round.data(), share.counts.data(), share.begins.data(), MPI_BYTE, 0, comm_);
    });
  }

  [[nodiscard]] std::vector<ByteVector> all_gather(const ByteVector& bytes) override {
    return collect(bytes, true, [&](const void* own, int count, const Share& share, ByteVector& round) {
      MPI_Allgatherv(own, count, MPI_BYTE, round.data(), share.counts.data(), share.begins.data(), MPI_BYTE, comm_);
    });
  }

  [[nodiscard]] std::vector<ByteVector> all_to_all(const std::vector<ByteVector>& bytes) override {
    const auto ranks = static_cast<std::size_t>(size_);
    std::vector<std::uint64_t> out(ranks), in(ranks);
    std::transform(bytes.begin(), bytes.end(), out.begin(), [](const ByteVector& one) { return one.size(); });
    MPI_Alltoall(out.data(), 1, MPI_UINT64_T, in.data(), 1, MPI_UINT64_T, comm_);
    std::vector<ByteVector> received(ranks);
    std::vector<MPI_Request> requests;
    for (std::size_t i = 0; i < ranks; ++i) {
      received[i].resize(in[i]);
      in_pieces(received[i].data(), in[i], [&](std::byte* from, int count) {
        MPI_Irecv(from, count, MPI_BYTE, static_cast<int>(i), 0, comm_, &requests.emplace_back());
      });
    }
    for (std::size_t i = 0; i < ranks; ++i) {
      in_pieces(bytes[i].data(), out[i], [&](const std::byte* from, int count) {
        MPI_Isend(from, count, MPI_BYTE, static_cast<int>(i), 0, comm_, &requests.emplace_back());
      });
    }
    MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
    return received;
  }

  [[nodiscard]] std::int64_t min(std::int64_t value) override { return reduce(value, MPI_MIN); }
  [[nodiscard]] std::int64_t max(std::int64_t value) override { return reduce(value, MPI_MAX); }
  [[nodiscard]] std::int64_t sum(std::int64_t value) override { return reduce(value, MPI_SUM); }
  void barrier() override { MPI_Barrier(comm_); }
  [[nodiscard]] std::unique_ptr<Communicator> split(int colour) override {
    MPI_Comm part = MPI_COMM_NULL;
    MPI_Comm_split(comm_, colour, rank_, &part);
    return std::make_unique<MpiCommunicator>(part);
  }
  [[nodiscard]] void* native() override { return &comm_; }

 private:
  template <class Call>
  [[nodiscard]] std::vector<ByteVector> collect(const ByteVector& own, bool wanted, const Call& call) {
    const std::uint64_t length = own.size();
    std::vector<std::uint64_t> lengths(static_cast<std::size_t>(size_));
    MPI_Allgather(&length, 1, MPI_UINT64_T, lengths.data(), 1, MPI_UINT64_T, comm_);
    return in_rounds(
        lengths, most / lengths.size(), wanted, [&](std::uint64_t at, const Share& share, ByteVector& round) {
          call(own.data() + std::min(at, length), share.counts[static_cast<std::size_t>(rank_)], share, round);
        });
  }

  std::int64_t reduce(std::int64_t value, MPI_Op operation) {
    std::int64_t result = 0;
    MPI_Allreduce(&value, &result, 1, MPI_INT64_T, operation, comm_);
    return result;
  }

  MPI_Comm comm_ = MPI_COMM_NULL;
  int rank_ = 0;
  int size_ = 1;
};

}  // namespace

int ranks_on_computer(Communicator& comm) {
  if (comm.native() == nullptr) return 1;
  MPI_Comm here = MPI_COMM_NULL;
  MPI_Comm_split_type(*static_cast<MPI_Comm*>(comm.native()), MPI_COMM_TYPE_SHARED, comm.rank(), MPI_INFO_NULL, &here);
  int ranks = 1;
  MPI_Comm_size(here, &ranks);
  MPI_Comm_free(&here);
  return ranks;
}

MpiSession::MpiSession(int& argc, char**& argv) {
  int initialized = 0;
  MPI_Initialized(&initialized);
  if (initialized == 0) {
    if (MPI_Init(&argc, &argv) != MPI_SUCCESS) throw IoError("MPI could not be initialised");
    owns_mpi_ = true;
  }
  MPI_Comm world = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &world);
  world_ = std::make_unique<MpiCommunicator>(world);
}

MpiSession::~MpiSession() {
  world_.reset();
  if (owns_mpi_) MPI_Finalize();
}

void MpiSession::abort(int exit_code) {
  MPI_Abort(MPI_COMM_WORLD, exit_code);
  std::abort();  // MPI_Abort does not return; the language does not know
}

}  // namespace tessera
