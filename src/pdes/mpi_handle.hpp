// A communicator of the synchronisers' own, which keeps the engine's messages apart from everybody else's.
#pragma once

#include <mpi.h>

namespace tessera::pdes {

class MpiHandle {
 public:
  explicit MpiHandle(MPI_Comm parent) { MPI_Comm_dup(parent, &comm_); }
  ~MpiHandle() { MPI_Comm_free(&comm_); }
  MpiHandle(const MpiHandle&) = delete;
  MpiHandle& operator=(const MpiHandle&) = delete;
  [[nodiscard]] MPI_Comm get() const { return comm_; }

 private:
  MPI_Comm comm_ = MPI_COMM_NULL;
};

}  // namespace tessera::pdes
