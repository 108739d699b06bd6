// A torus in three dimensions: routes solved by hand, names, faults, bad input.
#include "machine_from.hpp"

namespace tessera::machine {
namespace {

std::string torus(int columns, int rows, int planes, const std::string& more = "") {
  return machine_text("kind = \"torus-3d\"\ncolumns = " + std::to_string(columns) + "\nrows = " + std::to_string(rows) +
                      "\nplanes = " + std::to_string(planes) + "\n" + speeds + more);
}

TEST_CASE("torus-3d routes go along x, then y, then z, each time the shorter way round") {
  // Device (z * 3 + y) * 4 + x: 0 is (0,0,0), 4 * (4 * 3 + 2) + 3 = 59 is (3,2,4).
  const Machine it = machine_from(torus(4, 3, 5));
  CHECK(it.devices() == 60);
  // To (3,2,4): one west round the edge instead of three east, one down in y instead of two up, one down in z.
  CHECK(way(it, 0, 59) == Names{"chip (0,0,0)", "chip (3,0,0)", "chip (3,2,0)", "chip (3,2,4)"});
  // To (2,1,2) = 4 * (2 * 3 + 1) + 2 = 30: two east (a tie with two west: upwards), one up, two up.
  CHECK(way(it, 0, 30) ==
        Names{"chip (0,0,0)", "chip (1,0,0)", "chip (2,0,0)", "chip (2,1,0)", "chip (2,1,1)", "chip (2,1,2)"});
  // Six links a chip.
  CHECK(it.network.links.size() == 360);
  CHECK(it.places[59].node == 4);
  CHECK(it.places[59].x == 3);
  CHECK(it.places[59].y == 2);
  CHECK(it.devices_per_node == 12);
}

TEST_CASE("torus-3d: a dimension of two has one link each way, of one none, and planes may be joined by slower links") {
  const Machine it = machine_from(torus(2, 1, 3, "plane_bandwidth = \"10 GB/s\"\nplane_latency = \"300 ns\"\n"));
  // Each chip has one link in x, none in y, two in z.
  CHECK(it.network.links.size() == 6 * 3);
  CHECK(link_between(it, 0, 1).bandwidth.value() == 100'000'000'000);
  CHECK(link_between(it, 0, 1).latency.value() == 100 * nanosecond);
  CHECK(link_between(it, 0, 4).bandwidth.value() == 10'000'000'000);
  CHECK(link_between(it, 0, 4).latency.value() == 300 * nanosecond);
}

TEST_CASE("torus-3d faults name a chip by three coordinates, and ways lead round what is dead") {
  const Machine it = machine_from(torus(4, 4, 4) + fault("die = [1, 0, 0]\ndead = true"));
  CHECK(!it.alive(1));
  // From (0,0,0) to (2,0,0) two west instead of two east.
  CHECK(way(it, 0, 2) == Names{"chip (0,0,0)", "chip (3,0,0)", "chip (2,0,0)"});
  const Machine slow = machine_from(torus(4, 4, 4) + fault("link = [[0, 0, 0], [0, 0, 3]]\nbandwidth = \"50 %\""));
  CHECK(link_between(slow, 0, 48).bandwidth.value() == 50'000'000'000);
  CHECK(errors_of(torus(4, 4, 4) + fault("die = [1, 0, 4]\ndead = true")) ==
        Names{"m.toml:13:7: \"die\": chip (1,0,4) is off the torus-3d, allowed: (0,0,0) to (3,3,3)"});
  CHECK(errors_of(torus(4, 4, 1) + fault("die = [1, 0]\ndead = true")) ==
        Names{"m.toml:13:7: \"die\": expected three numbers such as [0, 1, 0]: column, row and plane"});
}

TEST_CASE("a torus-3d that is too large, or lacks a size, is refused") {
  CHECK(errors_of(torus(1024, 1024, 2)) ==
        Names{"m.toml:5:1: columns x rows x planes is 2097152 devices, at most 1048576 are allowed"});
  CHECK(errors_of(torus(65536, 65536, 65536)) ==
        Names{"m.toml:5:1: columns x rows is 4294967296 devices, at most 1048576 are allowed"});
  CHECK(errors_of(machine_text("kind = \"torus-3d\"\ncolumns = 4\nrows = 4\n" + speeds)).size() == 1);
}

}  // namespace
}  // namespace tessera::machine
