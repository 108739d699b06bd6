#include "sim/network/port.hpp"

namespace tessera::sim {

OwnMessage message_of(const NetworkTables& tables, std::int64_t bytes, machine::NodeId destination) {
  OwnMessage message;
  message.destination = destination;
  message.packets_left = tables.packets(bytes);
  message.bytes = bytes;
  message.last_bytes = bytes - (message.packets_left - 1) * tables.packet();
  return message;
}

}  // namespace tessera::sim
