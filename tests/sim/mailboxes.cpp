#include "tessera/sim/execution/mailboxes.hpp"

#include <catch2/catch.hpp>

using tessera::Time;
using tessera::sim::Mailboxes;

TEST_CASE("messages match receives in the order in which they were sent, not in which they come") {
  Mailboxes mail;
  const auto box = mail.find(7, 3);
  CHECK_FALSE(mail.deliver(box, 1, 11));  // the second message overtakes the first
  CHECK_FALSE(mail.take(box, 5));         // the first receive means the first message
  CHECK(mail.take(box, 5) == 11);         // the second is here
  CHECK(mail.deliver(box, 0, 10) == 5U);  // the first one's receive is told
  CHECK_FALSE(mail.take(box, 6));
  CHECK(mail.deliver(box, 2, 12) == 6U);
}

TEST_CASE("messages may come far out of order") {
  Mailboxes mail;
  const auto box = mail.find(0, 0);
  for (std::uint32_t sequence = 300; sequence-- > 1;) CHECK_FALSE(mail.deliver(box, sequence, Time{7} * sequence));
  CHECK_FALSE(mail.take(box, 0));
  for (int i = 1; i < 300; ++i) CHECK(mail.take(box, 0) == 7 * i);
  CHECK(mail.awaited(0).size() == 1);
  CHECK(mail.deliver(box, 0, 0) == 0U);
  CHECK(mail.awaited(0).empty());
  CHECK_FALSE(mail.take(box, 0));
}

TEST_CASE("boxes of other senders and channels do not mix, whatever the hint") {
  Mailboxes mail;
  for (std::uint32_t sender = 40; sender-- > 0;) {
    for (std::uint32_t channel = 0; channel < 3; ++channel) {
      const auto box = mail.find(sender, channel, sender);
      if (sender % 2 == 0) CHECK_FALSE(mail.deliver(box, 0, 0));
    }
  }
  for (std::uint32_t sender = 0; sender < 40; ++sender) {
    for (std::uint32_t channel = 0; channel < 3; ++channel) {
      CHECK(mail.take(mail.find(sender, channel, channel), 1).has_value() == (sender % 2 == 0));
    }
  }
  const auto awaited = mail.awaited(1);
  REQUIRE(awaited.size() == 60);
  CHECK(awaited[0].sender == 1);
  CHECK(awaited[0].channel == 0);
  CHECK(awaited[59].sender == 39);
  CHECK(awaited[59].channel == 2);
}

TEST_CASE("messages that come early keep what they say until they are taken, in order, among later ones") {
  // 0 and 3 come, 0 is taken, 1 is awaited and comes, 2 comes late and early again: each is what it was sent as.
  Mailboxes mail;
  const auto box = mail.find(4, 9);
  CHECK_FALSE(mail.deliver(box, 0, 100));
  CHECK_FALSE(mail.deliver(box, 3, 400));
  CHECK(mail.take(box, 2) == 100);
  CHECK_FALSE(mail.take(box, 2));
  CHECK(mail.awaited(2).size() == 1);
  CHECK_FALSE(mail.deliver(box, 2, 300));
  CHECK(mail.deliver(box, 1, 200) == 2U);
  CHECK(mail.awaited(2).empty());
  CHECK(mail.take(box, 2) == 300);
  CHECK(mail.take(box, 2) == 400);
  CHECK_FALSE(mail.take(box, 2));
}
