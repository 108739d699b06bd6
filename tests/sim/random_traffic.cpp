#include "random_traffic.hpp"

#include <array>

namespace tessera::test {
namespace {

using machine::NodeId;

class TrafficMaker {
 public:
  TrafficMaker(std::uint64_t index, std::int64_t longer) : random_(index, random_stream("traffic")), longer_(longer) {}

  RandomCase make() {
    machine::Network network = make_network();
    RandomCase made{std::move(network), {}};
    add_messages(made);
    return made;
  }

 private:
  std::uint64_t below(std::uint64_t count) { return random_.below(draws_++, count); }
  template <class T, std::size_t N>
  T one_of(const std::array<T, N>& choices) {
    return choices[below(N)];
  }

  void link(machine::NetworkBuilder& builder, NodeId from, NodeId to) {
    static constexpr std::array<std::int64_t, 8> bandwidths = {1'000'000'000,  1'500'000'000,  3'000'000'000,
                                                               7'000'000'000,  12'345'678'901, 150'000'000'000,
                                                               25'000'000'000, 999'999'937};
    static constexpr std::array<Time, 5> latencies = {1, 17, 500, 10'000, 123'457};
    const std::int64_t bandwidth = equal_ ? 2'000'000'000 : one_of(bandwidths);
    builder.add_link(from, to, BytesPerSecond{bandwidth}, Duration{equal_ ? 1000 : one_of(latencies)}, 0);
  }
  void both_ways(machine::NetworkBuilder& builder, NodeId a, NodeId b) {
    link(builder, a, b);
    link(builder, b, a);
  }

  machine::Network make_network() {
    static constexpr std::array<std::int64_t, 4> packets = {64, 100, 1000, 4096};
    equal_ = below(3) == 0;
    packet_ = one_of(packets);
    switch (below(4)) {
      case 0:
        return ring();
      case 1:
        return mesh();
      case 2:
        return tree();
      default:
        return graph();
    }
  }

  machine::Network ring() {
    const auto devices = static_cast<NodeId>(2 + below(7));
    const bool both = below(2) == 0;
    machine::NetworkBuilder builder(devices);
    builder.link_class("wire");
    for (NodeId i = 0; i < devices; ++i) {
      link(builder, i, (i + 1) % devices);
      if (both && devices > 2) link(builder, i, (i + devices - 1) % devices);
    }
    return finish_network(builder, packet_);
  }

  machine::Network mesh() {
    const auto columns = static_cast<NodeId>(2 + below(3));
    const auto rows = static_cast<NodeId>(1 + below(3));
    machine::NetworkBuilder builder(columns * rows);
    builder.link_class("wire");
    for (NodeId y = 0; y < rows; ++y) {
      for (NodeId x = 0; x < columns; ++x) {
        if (x + 1 < columns) both_ways(builder, y * columns + x, y * columns + x + 1);
        if (y + 1 < rows) both_ways(builder, y * columns + x, (y + 1) * columns + x);
      }
    }
    return finish_network(builder, packet_);
  }

  machine::Network tree() {
    const auto leaves = static_cast<NodeId>(1 + below(3));
    const auto devices = static_cast<NodeId>(leaves * (1 + below(4)) + 1);
    machine::NetworkBuilder builder(devices);
    builder.link_class("wire");
    std::vector<NodeId> switches;
    for (NodeId i = 0; i < leaves; ++i) switches.push_back(builder.add_switch("leaf"));
    const NodeId root = builder.add_switch("root");
    for (NodeId i = 0; i < devices; ++i) both_ways(builder, i, switches[i % leaves]);
    for (const NodeId leaf : switches) both_ways(builder, leaf, root);
    return finish_network(builder, packet_);
  }

  machine::Network graph() {
    const auto devices = static_cast<NodeId>(3 + below(6));
    machine::NetworkBuilder builder(devices);
    builder.link_class("wire");
    for (NodeId i = 0; i < devices; ++i) link(builder, i, (i + 1) % devices);
    for (NodeId from = 0; from < devices; ++from) {
      for (NodeId to = 0; to < devices; ++to) {
        if (to != from && to != (from + 1) % devices && below(4) == 0) link(builder, from, to);
      }
    }
    return finish_network(builder, packet_);
  }

  // Messages of the same size from many devices at the same moments, as programs send them.
  void add_volleys(RandomCase& made) {
    const std::uint64_t volleys = 1 + below(4);
    const auto devices = static_cast<NodeId>(made.network.devices);
    for (std::uint64_t volley = 0; volley < volleys; ++volley) {
      TestMessage message;
      message.bytes = random_bytes() * static_cast<std::int64_t>(1 + below(6));
      message.time = static_cast<Time>(below(40)) * 50'000;
      const auto shift = static_cast<NodeId>(1 + below(devices - 1));
      const NodeId one_destination = below(2) == 0 ? static_cast<NodeId>(below(devices)) : devices;
      const bool uneven = below(3) == 0;
      for (NodeId from = 0; from < devices; ++from) {
        message.from = from;
        message.to = one_destination < devices ? one_destination : (from + shift) % devices;
        message.channel = static_cast<std::uint32_t>(below(2));
        if (uneven) message.bytes += packet_ * static_cast<std::int64_t>(below(3));
        made.messages.push_back(message);
      }
    }
  }

  void add_messages(RandomCase& made) {
    const std::uint64_t kind = below(4);
    if (kind < 2) add_volleys(made);
    if (kind > 0) add_single_messages(made);
  }

  void add_single_messages(RandomCase& made) {
    const std::uint64_t count = 2 + below(40);
    const Time spread = 1 + static_cast<Time>(below(2'000'000));
    const bool coincide = below(2) == 0;
    const std::uint64_t channels = 1 + below(3);
    for (std::uint64_t i = 0; i < count; ++i) {
      TestMessage message;
      message.from = static_cast<NodeId>(below(made.network.devices));
      message.to = static_cast<NodeId>(below(made.network.devices));
      message.bytes = random_bytes();
      message.time = static_cast<Time>(below(static_cast<std::uint64_t>(spread)));
      if (coincide) message.time = message.time / 50'000 * 50'000;
      if (i > 0 && below(3) == 0) {
        message.after = static_cast<int>(below(i));
        message.from = made.messages[static_cast<std::size_t>(message.after)].to;
      }
      message.channel = static_cast<std::uint32_t>(below(channels));
      made.messages.push_back(message);
    }
  }

  std::int64_t random_bytes() {
    const auto packets = static_cast<std::int64_t>(below(12)) * longer_;
    switch (below(4)) {
      case 0:
        return packets * packet_;
      case 1:
        return static_cast<std::int64_t>(below(3));
      case 2:
        return packet_;
      default:
        return packets * packet_ + static_cast<std::int64_t>(below(static_cast<std::uint64_t>(packet_)));
    }
  }

  KeyedRandom random_;
  std::uint64_t draws_ = 0;
  std::int64_t longer_;
  std::int64_t packet_ = 0;
  bool equal_ = false;
};

}  // namespace

RandomCase random_case(std::uint64_t index, std::int64_t longer) { return TrafficMaker(index, longer).make(); }

}  // namespace tessera::test
