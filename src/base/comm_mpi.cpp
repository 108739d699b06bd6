#include <mpi.h>

#include <algorithm>
#include <cstdlib>

#include "tessera/base/comm.hpp"
#include "tessera/base/error.hpp"
#include "tessera/base/memory_limit.hpp"

namespace tessera {

namespace {

/// MPI counts are ints: longer buffers travel in pieces of this many bytes.
constexpr std::size_t piece = std::size_t{1} << 30;
constexpr int gather_tag = 1;

class MpiCommunicator final : public Communicator {
 public:
  explicit MpiCommunicator(MPI_Comm parent) {
    MPI_Comm_dup(parent, &comm_);
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

  [[nodiscard]] std::string broadcast(std::string text) override {
    std::uint64_t length = text.size();
    MPI_Bcast(&length, 1, MPI_UINT64_T, 0, comm_);
    text.resize(length);
    for (std::size_t at = 0; at < length; at += piece) {
      MPI_Bcast(text.data() + at, static_cast<int>(std::min(piece, length - at)), MPI_BYTE, 0, comm_);
    }
    return text;
  }

  [[nodiscard]] std::vector<std::vector<std::byte>> gather(const std::vector<std::byte>& bytes) override {
    std::vector<std::uint64_t> lengths(rank_ == 0 ? static_cast<std::size_t>(size_) : 0);
    const std::uint64_t length = bytes.size();
    MPI_Gather(&length, 1, MPI_UINT64_T, lengths.data(), 1, MPI_UINT64_T, 0, comm_);
    if (rank_ != 0) {
      for (std::size_t at = 0; at < length; at += piece) {
        MPI_Send(bytes.data() + at, static_cast<int>(std::min(piece, length - at)), MPI_BYTE, 0, gather_tag, comm_);
      }
      return {};
    }
    std::vector<std::vector<std::byte>> all(lengths.size());
    all[0] = bytes;
    for (int from = 1; from < size_; ++from) {
      auto& part = all[static_cast<std::size_t>(from)];
      part.resize(lengths[static_cast<std::size_t>(from)]);
      for (std::size_t at = 0; at < part.size(); at += piece) {
        const int count = static_cast<int>(std::min(piece, part.size() - at));
        MPI_Recv(part.data() + at, count, MPI_BYTE, from, gather_tag, comm_, MPI_STATUS_IGNORE);
      }
    }
    return all;
  }

  [[nodiscard]] std::int64_t min(std::int64_t value) override { return reduce(value, MPI_MIN); }
  [[nodiscard]] std::int64_t max(std::int64_t value) override { return reduce(value, MPI_MAX); }
  [[nodiscard]] std::int64_t sum(std::int64_t value) override { return reduce(value, MPI_SUM); }
  void barrier() override { MPI_Barrier(comm_); }
  [[nodiscard]] void* native() override { return &comm_; }

 private:
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
  world_ = std::make_unique<MpiCommunicator>(MPI_COMM_WORLD);
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
