#include "ways.hpp"

#include "loans.hpp"
#include "tessera/program/ways.hpp"

namespace tessera::strategy::megatron {
namespace {

/// What goes between stages in an iteration, by connection.
class Loads {
 public:
  Loads(const Cut& cut, const program::Program& program) : cut_(cut), program_(program) {}

  std::vector<program::ConnectionLoad> all() {
    for (std::uint32_t rank = 0; rank < cut_.devices.size(); ++rank) {
      add_neighbours(cut_.devices[rank], cut_.place(rank).stage);
      for (std::uint32_t loan = 0; loan < cut_.loans.size(); ++loan)
        add_loan(cut_.devices[rank], cut_.place(rank).stage, loan);
    }
    return std::move(loads_);
  }

 private:
  void add(program::DeviceId from, program::DeviceId to, std::uint32_t channel, std::int64_t bytes) {
    loads_.push_back({{from, to, channel}, Bytes{bytes}});
  }

  void add_neighbours(program::DeviceId device, std::uint32_t stage) {
    const std::int64_t passes = cut_.micro_batches * cut_.options.interleave;
    const std::int64_t bytes = cut_.message_bytes() * passes;
    const bool is_last = stage + 1 == cut_.options.pipeline, goes_round = cut_.options.interleave > 1;
    const program::DeviceProgram& own = program_.devices[device];
    if (!is_last || goes_round) add(device, own.peers[next_stage], activations_channel, bytes);
    if (cut_.training() && (stage > 0 || goes_round)) add(device, own.peers[previous_stage], gradients_channel, bytes);
  }

  void add_loan(program::DeviceId device, std::uint32_t stage, std::uint32_t number) {
    const Loan& loan = cut_.loans[number];
    if (stage != loan.from) return;
    const program::DeviceId helper = program_.devices[device].peers[peer_slots + number];
    const program::LoanChannels along = program::channels_of(loan_slots(number));
    add(device, helper, along.there, loan.bytes * cut_.micro_batches);
    add(helper, device, along.back, loan.bytes * cut_.micro_batches);
  }

  const Cut& cut_;
  const program::Program& program_;
  std::vector<program::ConnectionLoad> loads_;
};

}  // namespace

void bind_ways(const Cut& cut, const machine::Machine& machine, program::Program& program) {
  if (!cut.options.unused_first || cut.options.pipeline == 1) return;
  program.ways = unused_first(machine, Loads(cut, program).all(), cut.options.link_factor);
}

DataTable ways_table(const std::vector<machine::BoundWay>& ways) {
  std::vector<std::int32_t> from, to, channel, place, link;
  for (const machine::BoundWay& way : ways) {
    for (std::size_t i = 0; i < way.links.size(); ++i) {
      from.push_back(static_cast<std::int32_t>(way.connection.from));
      to.push_back(static_cast<std::int32_t>(way.connection.to));
      channel.push_back(static_cast<std::int32_t>(way.connection.channel));
      place.push_back(static_cast<std::int32_t>(i));
      link.push_back(static_cast<std::int32_t>(way.links[i]));
    }
  }
  DataTable table{"ways", "Ways of what goes between stages, a link a row.", {}};
  table.index("from", "device that sends", from).index("to", "device that receives", to);
  table.index("channel", "0 activations, 1 gradients, 3 and up loans: there, their questions, back", channel);
  table.index("place", "of the link on the way", place).index("link", "its number in /links", link);
  return table;
}

}  // namespace tessera::strategy::megatron
