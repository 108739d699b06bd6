// A disk that is too small by every part of the file: the same error on every rank, nothing damaged, nothing left.
#include <sys/mount.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstdlib>

#include "../sample.hpp"
#include "tessera/base/error.hpp"

using namespace tessera;
using namespace tessera::results;
namespace fs = std::filesystem;

namespace {

constexpr std::int64_t page = 4096;

/// The file system in memory that with-tmpfs.sh has mounted.
class Disk {
 public:
  explicit Disk(Communicator& comm) : comm_(&comm), folder_(std::getenv("TESSERA_TMPFS")) {}
  [[nodiscard]] std::string operator/(const std::string& name) const { return folder_ + "/" + name; }
  [[nodiscard]] std::vector<std::string> files() const { return sample::files_in(folder_); }
  /// Every rank calls it.
  void resize(std::int64_t bytes) {
    const std::string size = "size=" + std::to_string(bytes);
    if (comm_->rank() == 0) REQUIRE(mount("tessera", folder_.c_str(), "tmpfs", MS_REMOUNT, size.c_str()) == 0);
    comm_->barrier();
  }

 private:
  Communicator* comm_;
  std::string folder_;
};

/// A text that does not fit is an error, and leaves the one before.
void check_text(const std::string& path) {
  write_text(path, "whole");
  CHECK_THROWS_WITH(write_text(path, std::string(2 << 20, 'x')),
                    "cannot write '" + path + "': No space left on device");
  CHECK(sample::read_text(path) == "whole");
  fs::remove(path);
}

}  // namespace

TEST_CASE("a disk that is too small by each twentieth of the file") {
  int argc = 0;
  char** argv = nullptr;
  MpiSession session{argc, argv};
  Communicator& comm = session.world();
  Disk disk(comm);
  const auto owner = [ranks = comm.size()](std::uint32_t id) { return static_cast<int>(id) % ranks; };
  const RunResults results = sample::make({8, 20, 600}, comm.rank(), owner);
  const auto save = [&](const char* name, Transport transport) {
    write(disk / name, results, sample::provenance(), comm, transport);
  };
  disk.resize(1 << 20);
  save("whole.h5", Transport::automatic);
  const auto whole = static_cast<std::int64_t>(fs::file_size(disk / "whole.h5"));
  comm.barrier();
  if (comm.rank() == 0) {
    fs::remove(disk / "whole.h5");
    std::ofstream(disk / "out.h5") << "precious";  // takes a page
  }
  comm.barrier();
  for (const Transport transport : {Transport::automatic, Transport::gather}) {
    for (int twentieths = 0; twentieths < 20; ++twentieths) {
      INFO(twentieths << " twentieths of " << whole << " B" << (transport == Transport::gather ? ", gathered" : ""));
      disk.resize(page + whole * twentieths / 20);
      CHECK_THROWS_WITH(save("out.h5", transport), "cannot write '" + disk / "out.h5" + "': No space left on device");
      comm.barrier();
      if (comm.rank() == 0) {
        CHECK(disk.files() == std::vector<std::string>{"out.h5"});
        CHECK(sample::read_text(disk / "out.h5") == "precious");
      }
      comm.barrier();
    }
    // Room enough: the old file stands until the new one is whole, so both have to fit.
    disk.resize(2 * page + whole);
    CHECK_NOTHROW(save("out.h5", transport));
    if (comm.rank() == 0) {
      CHECK_NOTHROW(summary(disk / "out.h5"));
      std::ofstream(disk / "out.h5") << "precious";
    }
    comm.barrier();
  }
  disk.resize(1 << 20);
  if (comm.rank() == 0) check_text(disk / "plan.toml");  // the disk is too small for all ranks' at a time
  comm.barrier();
}
