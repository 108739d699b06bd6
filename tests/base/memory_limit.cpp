// The memory that control groups leave, from made-up files of both versions.
#include "tessera/base/memory_limit.hpp"

#include <catch2/catch.hpp>
#include <fstream>

#include "experiment/files.hpp"

namespace tessera {
namespace {

constexpr std::int64_t gib = std::int64_t{1} << 30;

std::int64_t memory_in(const test::Folder& folder) { return memory_of_computer(folder.path("")).bytes; }

TEST_CASE("without control groups the computer has its memory") {
  const test::Folder folder;
  folder.write("proc/meminfo", "MemTotal:       4194304 kB\nMemFree:         123 kB\n");
  CHECK(memory_in(folder) == 4 * gib);
  CHECK(memory_of_computer(folder.path("")).source == "its memory");
}

TEST_CASE("control groups of version 2: the least of all levels counts") {
  const test::Folder folder;
  folder.write("proc/meminfo", "MemTotal:       4194304 kB\n");
  folder.write("proc/self/cgroup", "0::/slurm/job_7/step_0\n");
  folder.write("sys/fs/cgroup/slurm/job_7/step_0/memory.max", "max\n");
  folder.write("sys/fs/cgroup/slurm/job_7/memory.max", "1073741824\n");
  folder.write("sys/fs/cgroup/slurm/memory.max", "2147483648\n");
  CHECK(memory_in(folder) == gib);
  CHECK(memory_of_computer(folder.path("")).source == "the limit of its control group");
}

TEST_CASE("in a container the group of version 2 is the root, and one that is not there limits nothing") {
  const test::Folder folder;
  folder.write("proc/meminfo", "MemTotal:       4194304 kB\n");
  folder.write("proc/self/cgroup", "0::/\n");
  folder.write("sys/fs/cgroup/memory.max", "3221225472\n");
  CHECK(memory_in(folder) == 3 * gib);
  folder.write("proc/self/cgroup", "0::/../elsewhere\n");
  CHECK(memory_in(folder) == 3 * gib);
}

TEST_CASE(
    "control groups of version 1: the controller of memory alone, above the computer's memory it limits nothing") {
  const test::Folder folder;
  folder.write("proc/meminfo", "MemTotal:       4194304 kB\n");
  folder.write("proc/self/cgroup", "12:cpu,cpuacct:/small\n5:memory:/slurm/job_7\n");
  folder.write("sys/fs/cgroup/memory/small/memory.limit_in_bytes", "1\n");
  folder.write("sys/fs/cgroup/memory/slurm/job_7/memory.limit_in_bytes", "9223372036854771712\n");
  CHECK(memory_in(folder) == 4 * gib);
  folder.write("sys/fs/cgroup/memory/slurm/memory.limit_in_bytes", "2147483648\n");
  CHECK(memory_in(folder) == 2 * gib);
}

TEST_CASE("this computer has memory, and a serial communicator is alone on it") {
  CHECK(memory_of_computer().bytes > 0);
  CHECK(memory_of_process().bytes > 0);
  CHECK(ranks_on_computer(*make_serial_communicator()) == 1);
}

}  // namespace
}  // namespace tessera
