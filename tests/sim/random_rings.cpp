#include "random_rings.hpp"

#include <algorithm>
#include <optional>

#include "random_traffic.hpp"

namespace tessera::test {
namespace {

using program::CollectiveKind;
using program::DeviceId;

constexpr std::uint32_t streams = 2;

class Maker {
 public:
  explicit Maker(std::uint64_t index)
      : random_(index, random_stream("rings")), made_(machine_of(random_case(index).network)) {}

  ProgramCase make() {
    const DeviceId devices = made_.machine.devices();
    made_.machine.device.cores = 8;
    made_.program.channels = below(3) == 0 ? 3 : 0;
    for (DeviceId device = 0; device < devices; ++device) {
      made_.machine.speed[device] = below(4) == 0 ? 0.5 : 1;
      for (std::uint32_t stream = 0; stream < streams; ++stream) blocks_.push_back(made_.block());
    }
    make_groups();
    const std::uint64_t operations = 3 + below(20);
    for (std::uint64_t i = 0; i < operations; ++i) add_operation();
    for (DeviceId device = 0; device < devices; ++device) {
      std::vector<program::BlockId> bound;
      for (std::uint32_t stream = 0; stream < streams; ++stream) bound.push_back(at(device, stream).done());
      made_.bind(device, bound);
    }
    return std::move(made_);
  }

 private:
  std::uint64_t below(std::uint64_t count) { return random_.below(draws_++, count); }
  program::BlockBuilder& at(DeviceId device, std::uint32_t stream) { return blocks_[device * streams + stream]; }

  /// Group g is called by stream g % streams alone.
  void make_groups() {
    const std::uint64_t groups = 1 + below(4);
    for (std::uint64_t group = 0; group < groups; ++group) {
      std::vector<DeviceId> all(made_.machine.devices());
      for (DeviceId device = 0; device < all.size(); ++device) all[device] = device;
      if (below(2) == 0) shuffle(all, KeyedRandom(draws_, below(1000)));
      all.resize(std::max<std::size_t>(2, all.size() - below(all.size())));
      made_.group(all);
    }
  }

  void add_operation() {
    const std::uint64_t kind = below(10);
    if (kind < 6) return add_collective();
    if (kind < 8) return add_message();
    const auto device = static_cast<DeviceId>(below(made_.machine.devices()));
    at(device, static_cast<std::uint32_t>(below(streams))).compute(work(static_cast<Time>(1 + below(40'000'000))));
  }

  void add_collective() {
    static constexpr std::array kinds{CollectiveKind::all_reduce, CollectiveKind::reduce_scatter,
                                      CollectiveKind::all_gather};
    static constexpr std::array<std::int64_t, 6> sizes{0, 3, 1000, 7777, 40'000, 65'536};
    const auto group = static_cast<std::uint32_t>(below(made_.program.groups.size()));
    program::Collective asked = collective(kinds[below(kinds.size())], sizes[below(sizes.size())], "ring", group);
    if (below(6) == 0) asked = collective(CollectiveKind::all_to_all, 6000, below(2) == 0 ? "ring" : "direct", group);
    if (below(6) == 0) asked = collective(CollectiveKind::all_reduce, 6000, "direct", group);
    asked.element = Bytes{1};
    const std::uint64_t late = below(3);
    const std::uint64_t times = 1 + below(3);
    for (std::uint64_t i = 0; i < times; ++i) {
      for (const DeviceId device : made_.program.groups[group].members) {
        program::BlockBuilder& block = at(device, group % streams);
        if (late == 1 && below(2) == 0) block.compute(work(static_cast<Time>(1 + below(30'000'000))));
        block.collective(asked);
      }
    }
  }

  void add_message() {
    const auto from = static_cast<DeviceId>(below(made_.machine.devices()));
    const auto to = static_cast<DeviceId>(below(made_.machine.devices()));
    if (from == to) return;
    const Bytes bytes{static_cast<std::int64_t>(below(30'000))};
    program::BlockBuilder& sender = at(from, 0);
    if (below(2) == 0) sender.compute(work(static_cast<Time>(1 + below(20'000'000))));
    sender.send(to, bytes);
    if (below(3) == 0) sender.wait_sends();
    at(to, 1).receive(from, bytes);
  }

  KeyedRandom random_;
  std::uint64_t draws_ = 0;
  ProgramCase made_;
  std::vector<program::BlockBuilder> blocks_;
};

}  // namespace

ProgramCase random_rings(std::uint64_t index) { return Maker(index).make(); }

}  // namespace tessera::test
