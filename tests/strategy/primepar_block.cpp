// Attention blocks cut at random train exactly.
#include <catch2/catch.hpp>

#include "primepar_attention.hpp"
#include "support/random_cases.hpp"

using namespace tessera::strategy::primepar;

TEST_CASE("primepar: 500 random partitions of an attention block on 16 devices train exactly") {
  const AttentionBlock block;
  InProcess here;
  for (std::uint64_t number = 0; number < tessera::test::random_cases(500); ++number) {
    CAPTURE(number);
    block.train(block.draw(4, number), 4, here);
  }
}
