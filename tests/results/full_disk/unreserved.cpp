// A disk on which no space can be set aside (support/with-ext2.sh): that it is full shows while the rows are written.
#include <sys/statvfs.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstdlib>

#include "../sample.hpp"
#include "tessera/base/error.hpp"

using namespace tessera;
using namespace tessera::results;
namespace fs = std::filesystem;

TEST_CASE("a disk that cannot reserve and is too small by each tenth of the file") {
  int argc = 0;
  char** argv = nullptr;
  MpiSession session{argc, argv};
  Communicator& comm = session.world();
  const fs::path folder = std::getenv("TESSERA_EXT2");
  const auto owner = [ranks = comm.size()](std::uint32_t id) { return static_cast<int>(id) % ranks; };
  const RunResults results = sample::make({8, 20, 4000}, comm.rank(), owner);
  const std::string path = folder / "out.h5";
  write(path, results, sample::provenance(), comm);
  const auto whole = static_cast<std::int64_t>(fs::file_size(path));
  comm.barrier();
  if (comm.rank() == 0) std::ofstream(path, std::ios::trunc) << "precious";
  for (int tenths = 1; tenths < 10; ++tenths) {
    INFO(tenths << " tenths of " << whole << " B");
    if (comm.rank() == 0) {
      struct statvfs disk {};
      REQUIRE(statvfs(folder.c_str(), &disk) == 0);
      const auto room = static_cast<std::int64_t>(disk.f_bavail * disk.f_frsize);
      std::ofstream(folder / "filler") << std::string(static_cast<std::size_t>(room - whole * tenths / 10), 'x');
    }
    comm.barrier();
    CHECK_THROWS_WITH(write(path, results, sample::provenance(), comm),
                      "cannot write '" + path + "': No space left on device");
    comm.barrier();
    if (comm.rank() == 0) {
      CHECK(sample::read_text(path) == "precious");
      fs::remove(folder / "filler");
      const auto files = sample::files_in(folder.string());
      CHECK(std::count_if(files.begin(), files.end(), [](const auto& name) { return name.find("tmp") != name.npos; }) ==
            0);
    }
    comm.barrier();
  }
}
