// A message as it would be sent so many shifts further on.
#pragma once

#include "sim/laws/fold/fold.hpp"
#include "sim/network/messages.hpp"

namespace tessera::sim {

template <class Message>
void shift(Message& message, const Fold& fold, std::uint32_t times) {
  message.name.sender = fold.shifted(message.name.sender, times);
  message.name.channel = fold.shifted_channel(message.name.channel, times);
  if constexpr (requires { message.destination; }) message.destination = fold.shifted(message.destination, times);
  if constexpr (requires { message.link; }) message.link = fold.shifted_link(message.link, times);
}

}  // namespace tessera::sim
