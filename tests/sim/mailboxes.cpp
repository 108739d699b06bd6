#include "sim/execution/mailboxes.hpp"

#include <catch2/catch.hpp>

using tessera::Time;
using tessera::sim::Mailboxes;

TEST_CASE("messages match receives in order, whichever is there first") {
  Mailboxes mail;
  const auto box = mail.find(7, 3);
  CHECK_FALSE(mail.take(box, 5));
  CHECK_FALSE(mail.take(box, 5));
  CHECK(mail.deliver(box, 10) == 5U);
  CHECK(mail.deliver(box, 11) == 5U);
  CHECK_FALSE(mail.deliver(box, 12));
  CHECK(mail.take(box, 6) == 12);
  CHECK_FALSE(mail.take(box, 6));
  CHECK(mail.deliver(box, 13) == 6U);
}

TEST_CASE("many messages may come before they are taken, and keep what they say") {
  Mailboxes mail;
  const auto box = mail.find(0, 0), other = mail.find(1, 0);
  for (int i = 0; i < 300; ++i) {
    CHECK_FALSE(mail.deliver(box, 7 * i));
    CHECK_FALSE(mail.deliver(other, 5 * i));
  }
  for (int i = 0; i < 300; ++i) {
    CHECK(mail.take(box, 0) == 7 * i);
    CHECK(mail.take(other, 1) == 5 * i);
  }
  CHECK(mail.awaited(0).empty());
  CHECK_FALSE(mail.take(box, 0));
  CHECK(mail.awaited(0).size() == 1);
  CHECK(mail.deliver(box, 1) == 0U);
  CHECK(mail.awaited(0).empty());
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
