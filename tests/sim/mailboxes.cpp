#include "tessera/sim/execution/mailboxes.hpp"

#include <catch2/catch.hpp>

using tessera::sim::Mailboxes;

TEST_CASE("messages match receives in the order in which they were sent, not in which they come") {
  Mailboxes mail;
  const auto box = mail.find(7, 3);
  CHECK_FALSE(mail.deliver(box, 1));  // the second message overtakes the first
  CHECK_FALSE(mail.take(box, 5));     // the first receive means the first message
  CHECK(mail.take(box, 5));           // the second is here
  CHECK(mail.deliver(box, 0) == 5U);  // the first one's receive is told
  CHECK_FALSE(mail.take(box, 6));
  CHECK(mail.deliver(box, 2) == 6U);
}

TEST_CASE("messages may come far out of order") {
  Mailboxes mail;
  const auto box = mail.find(0, 0);
  for (std::uint32_t sequence = 300; sequence-- > 1;) CHECK_FALSE(mail.deliver(box, sequence));
  CHECK_FALSE(mail.take(box, 0));
  for (int i = 1; i < 300; ++i) CHECK(mail.take(box, 0));
  CHECK(mail.awaited(0).size() == 1);
  CHECK(mail.deliver(box, 0) == 0U);
  CHECK(mail.awaited(0).empty());
  CHECK_FALSE(mail.take(box, 0));
}

TEST_CASE("boxes of other senders and channels do not mix, whatever the hint") {
  Mailboxes mail;
  for (std::uint32_t sender = 40; sender-- > 0;) {
    for (std::uint32_t channel = 0; channel < 3; ++channel) {
      const auto box = mail.find(sender, channel, sender);
      if (sender % 2 == 0) CHECK_FALSE(mail.deliver(box, 0));
    }
  }
  for (std::uint32_t sender = 0; sender < 40; ++sender) {
    for (std::uint32_t channel = 0; channel < 3; ++channel) {
      CHECK(mail.take(mail.find(sender, channel, channel), 1) == (sender % 2 == 0));
    }
  }
  const auto awaited = mail.awaited(1);
  REQUIRE(awaited.size() == 60);
  CHECK(awaited[0].sender == 1);
  CHECK(awaited[0].channel == 0);
  CHECK(awaited[59].sender == 39);
  CHECK(awaited[59].channel == 2);
}
