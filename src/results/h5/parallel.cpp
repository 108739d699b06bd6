#include "parallel.hpp"

#include <hdf5.h>
#include <mpi.h>

namespace tessera::results::h5 {
namespace {

Handle mpi_access(MPI_Comm comm) {
  Handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
  checked(H5Pset_fapl_mpio(access.get(), comm, MPI_INFO_NULL));
  // One rank reads object headers and tells the others, instead of a thousand asking the file system for the same
  // bytes.
  checked(H5Pset_all_coll_metadata_ops(access.get(), true));
  checked(H5Pset_coll_metadata_write(access.get(), true));
  return access;
}

}  // namespace

std::optional<File> open_collectively(const std::string& path, Communicator& comm) {
  const auto* mpi = static_cast<const MPI_Comm*>(comm.native());
  if (mpi == nullptr) return std::nullopt;
  std::optional<File> file;
  try {
    file.emplace(Handle(H5Fopen(path.c_str(), H5F_ACC_RDWR, mpi_access(*mpi).get()), H5Fclose));
  } catch (const Failure&) {
    file.reset();
  }
  if (comm.min(file ? 1 : 0) == 0) return std::nullopt;
  return file;
}

Handle collective_transfer() {
  Handle transfer(H5Pcreate(H5P_DATASET_XFER), H5Pclose);
  checked(H5Pset_dxpl_mpio(transfer.get(), H5FD_MPIO_COLLECTIVE));
  return transfer;
}

}  // namespace tessera::results::h5
