#include "parallel_file.hpp"

#include <mpi.h>
#include <unistd.h>

#include <string>

#include "failure.hpp"
#include "temporary_file.hpp"

namespace tessera::results {
namespace {

/// Files of MPI return their errors, unlike its other objects.
void checked(int code) {
  if (code == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING] = {};
  int length = 0;
  MPI_Error_string(code, text, &length);
  throw Failure(text);
}

/// The bytes of the extents, one after the other.
class Places {
 public:
  explicit Places(const std::vector<Extent>& extents) {
    std::vector<int> counts;
    std::vector<MPI_Aint> offsets;
    for (const Extent& extent : extents) {
      counts.push_back(static_cast<int>(extent.count));  // a piece is some MiB
      offsets.push_back(extent.offset);
    }
    MPI_Type_create_hindexed(static_cast<int>(counts.size()), counts.data(), offsets.data(), MPI_BYTE, &type_);
    MPI_Type_commit(&type_);
  }
  ~Places() { MPI_Type_free(&type_); }
  Places(const Places&) = delete;
  Places& operator=(const Places&) = delete;
  [[nodiscard]] MPI_Datatype type() const { return type_; }

 private:
  MPI_Datatype type_ = MPI_DATATYPE_NULL;
};

}  // namespace

struct ParallelFile::File {
  MPI_File handle = MPI_FILE_NULL;
};

ParallelFile::ParallelFile(std::unique_ptr<File> file) : file_(std::move(file)) {}

ParallelFile::~ParallelFile() {
  if (file_->handle != MPI_FILE_NULL) MPI_File_close(&file_->handle);
}

std::unique_ptr<ParallelFile> ParallelFile::open(const std::string& name, Communicator& comm) {
  const auto* mpi = static_cast<const MPI_Comm*>(comm.native());
  if (mpi == nullptr) return nullptr;
  const TemporaryFile::NameIsNeeded kept;
  // Folders that not every computer has: MPI_File_open would wait for ever where one rank alone finds no file. The
  // minimum is a barrier too: nobody opens before each rank keeps the name, nor gives it up before each has opened.
  const bool found = ::access(name.c_str(), R_OK | W_OK) == 0;
  if (comm.min(found ? 1 : 0) == 0) return nullptr;
  auto file = std::make_unique<File>();
  // Collective writes with gaps read what they leave as it is.
  const int code = MPI_File_open(*mpi, name.c_str(), MPI_MODE_RDWR, MPI_INFO_NULL, &file->handle);
  const bool opened = code == MPI_SUCCESS && file->handle != MPI_FILE_NULL;
  if (comm.min(opened ? 1 : 0) == 1) return std::unique_ptr<ParallelFile>(new ParallelFile(std::move(file)));
  return nullptr;
}

void ParallelFile::write(const std::vector<Extent>& extents, const std::vector<std::byte>& bytes) {
  const Places places(extents);
  MPI_Status status;
  int written = 0;
  const int count = static_cast<int>(bytes.size());
  // Both are collective: the second is called even where the first has failed.
  const int viewed = MPI_File_set_view(file_->handle, 0, MPI_BYTE, extents.empty() ? MPI_BYTE : places.type(), "native",
                                       MPI_INFO_NULL);
  const int code = MPI_File_write_at_all(file_->handle, 0, bytes.data(), count, MPI_BYTE, &status);
  checked(viewed);
  checked(code);
  MPI_Get_count(&status, MPI_BYTE, &written);
  if (written != count) throw Failure("MPI-IO has written a part only");
}

void ParallelFile::close() {
  const int flushed = MPI_File_sync(file_->handle);
  checked(MPI_File_close(&file_->handle));
  checked(flushed);
}

}  // namespace tessera::results
