// Proof by execution: partitioned linears on real matrices end with exactly what Eigen computes from the whole ones.
#include <catch2/catch.hpp>

#include "primepar_linears.hpp"

using namespace tessera::strategy::primepar;

TEST_CASE("primepar: every sequence of one linear on up to 16 devices trains exactly") {
  InProcess here;
  // Extents that slices divide, and extents that they do not.
  for (const Operator& op : {linear("even", 16, 16, 16, 16), linear("odd", 17, 19, 18, 21)}) {
    for (int bits = 0; bits <= 4; ++bits) {
      const std::vector<Partition> all = all_partitions(op, bits);
      if (bits == 4) REQUIRE(all.size() == 306);
      for (const Partition& partition : all) {
        CAPTURE(op.name, to_text(op, partition));
        train_linear({op, partition, bits}, here);
      }
    }
  }
}

TEST_CASE("primepar: large squares, and squares in squares, train exactly") {
  InProcess here;
  const Operator op = linear("fc", 3, 17, 18, 19);
  for (const char* text : {"{P(8x8)}", "{P(16x16)}", "{P(2x2), P(4x4)}", "{P(4x4), P(2x2)}", "{P(2x2), P(2x2), P(2x2)}",
                           "{N, P(4x4), B}", "{P(2x2), K, P(4x4), M}"}) {
    CAPTURE(text);
    const Partition partition = parse_partition(op, text);
    train_linear({op, partition, bits_of(partition)}, here);
  }
}
