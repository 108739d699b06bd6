#include "messages.hpp"

#include "../../src/base/rounds.hpp"

using namespace tessera;

TEST_CASE("messages: a single rank hears itself") { test::check_communicator(*make_serial_communicator()); }

TEST_CASE("messages: bytes come together in rounds, each rank's in order") {
  // Three ranks with 5, 0 and 9 bytes, at most 4 of each in a round: 4 + 0 + 4, 1 + 0 + 4, 0 + 0 + 1.
  std::vector<ByteVector> sent(3);
  for (int i = 0; i < 5; ++i) sent[0].push_back(static_cast<std::byte>(i));
  for (int i = 0; i < 9; ++i) sent[2].push_back(static_cast<std::byte>(100 + i));
  std::vector<std::size_t> sizes;
  const auto call = [&](std::uint64_t at, const Share& share, ByteVector& round) {
    sizes.push_back(share.bytes());
    if (round.empty()) return;
    for (std::size_t rank = 0; rank < sent.size(); ++rank) {
      for (int i = 0; i < share.counts[rank]; ++i)
        round[static_cast<std::size_t>(share.begins[rank] + i)] = sent[rank][at + static_cast<std::size_t>(i)];
    }
  };
  CHECK(in_rounds({5, 0, 9}, 4, true, call) == sent);
  CHECK(sizes == std::vector<std::size_t>{8, 5, 1});
  CHECK(in_rounds({5, 0, 9}, 4, false, call).empty());
  CHECK(sizes.size() == 6);  // whoever does not want them takes part all the same
  CHECK(in_rounds({0, 0}, 4, true, call) == std::vector<ByteVector>(2));
}
