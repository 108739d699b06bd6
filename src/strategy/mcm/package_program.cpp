#include "package_program.hpp"

#include <algorithm>
#include <functional>
#include <set>

namespace tessera::strategy::mcm {
namespace {

using program::Activity;
using program::BlockBuilder;
using program::BlockId;
using program::MemoryCategory;

constexpr std::uint32_t data = 0, credits = 1;          // channels
constexpr std::uint32_t handed_over = 0, has_left = 1;  // events: an input's results; room for another one's

/// Writes one chip's streams.
class ChipWriter {
 public:
  ChipWriter(const Package& package, const ChipWork& work, ChipId chip, program::Program& program, std::int64_t inputs)
      : package_(package), work_(work), name_("chip " + std::to_string(chip)), program_(program), inputs_(inputs) {}

  program::DeviceProgram write() {
    program::DeviceProgram device;
    device.streams.push_back(main_stream());
    if (!work_.to.empty()) {
      device.streams.push_back(sending_stream());
      device.events = 2;
    }
    for (const Exchange& from : work_.from) device.peers.push_back(package_.devices[from.chip]);
    for (const Exchange& to : work_.to) device.peers.push_back(package_.devices[to.chip]);
    return device;
  }

 private:
  // Peer slots.
  [[nodiscard]] std::uint32_t sender(std::size_t i) const { return static_cast<std::uint32_t>(i); }
  [[nodiscard]] std::uint32_t reader(std::size_t i) const { return static_cast<std::uint32_t>(work_.from.size() + i); }

  BlockBuilder builder(const std::string& what) const { return {program_, name_ + " " + what}; }

  /// Inputs 0 .. inputs-1 by stretches in which all do the same: `begins` are inputs at which something changes.
  void in_stretches(BlockBuilder& all, std::set<std::int64_t> begins,
                    const std::function<BlockId(std::int64_t input)>& write) const {
    begins.insert(0);
    for (auto begin = begins.begin(); begin != begins.end() && *begin < inputs_; ++begin) {
      const auto next = std::next(begin);
      const std::int64_t end = next == begins.end() ? inputs_ : std::min(*next, inputs_);
      if (*begin >= 0 && end > *begin) all.call(write(*begin), static_cast<std::uint32_t>(end - *begin));
    }
  }

  BlockId main_stream() {
    const BlockId take = write_take(), run = write_run();
    std::set<std::int64_t> begins;
    if (!work_.to.empty()) begins.insert(work_.send_buffers);
    BlockBuilder all = builder("main");
    all.label("weights").allocate(MemoryCategory::weights, Bytes{work_.weights});
    all.label("buffers").allocate(MemoryCategory::buffers, Bytes{peak_bytes(work_) - work_.weights - work_.held});
    in_stretches(all, begins, [&](std::int64_t input) { return write_input(input, take, run); });
    return all.done();
  }
  BlockId write_take() {
    BlockBuilder take = builder("receives");
    take.activity(Activity::pipeline_communication).label("receive");
    for (std::size_t i = 0; i < work_.from.size(); ++i) take.receive(sender(i), Bytes{work_.from[i].bytes}, data);
    return take.done();
  }
  BlockId write_run() {
    BlockBuilder run = builder("runs");
    for (const Turn& turn : work_.turns) {
      const workload::GraphNode& node = package_.graph.nodes[turn.node];
      run.label(node.name).allocate(MemoryCategory::activations, Bytes{turn.allocates});
      for (const workload::Operator& op : node.work.forward) run.compute(op);
      run.release(MemoryCategory::activations, Bytes{turn.releases});
    }
    return run.done();
  }
  BlockId write_input(std::int64_t input, BlockId take, BlockId run) {
    BlockBuilder one = builder("input " + std::to_string(input));
    one.call(take).activity(Activity::pipeline_communication);
    if (!work_.to.empty() && input >= work_.send_buffers) one.label("room").wait(has_left);
    one.call(run);
    if (!work_.to.empty()) one.label("handed over").signal(handed_over);
    one.label("credit");
    for (std::size_t i = 0; i < work_.from.size(); ++i) one.send(sender(i), Bytes{credit_bytes}, credits);
    return one.mark().done();
  }

  BlockId sending_stream() {
    std::set<std::int64_t> begins;
    for (const Exchange& to : work_.to) begins.insert(to.depth);
    BlockBuilder all = builder("sending");
    in_stretches(all, begins, [&](std::int64_t input) {
      BlockBuilder one = builder("sends input " + std::to_string(input));
      one.activity(Activity::pipeline_communication).label("send").wait(handed_over);
      for (std::size_t i = 0; i < work_.to.size(); ++i) {
        if (input >= work_.to[i].depth) one.receive(reader(i), Bytes{credit_bytes}, credits);
        one.send(reader(i), Bytes{work_.to[i].bytes}, data);
      }
      return one.wait_sends().signal(has_left).done();
    });
    // Credits that nothing needs any more come all the same: the last inputs take as long as those before.
    all.activity(Activity::pipeline_communication).label("last credits");
    for (std::size_t i = 0; i < work_.to.size(); ++i) {
      for (std::int64_t k = 0; k < std::min(inputs_, work_.to[i].depth); ++k)
        all.receive(reader(i), Bytes{credit_bytes}, credits);
    }
    return all.done();
  }

  const Package& package_;
  const ChipWork& work_;
  std::string name_;
  program::Program& program_;
  std::int64_t inputs_;
};

}  // namespace

program::Program package_program(const Package& package, const std::vector<ChipWork>& work, program::Program empty,
                                 std::int64_t inputs) {
  program::Program program = std::move(empty);
  for (ChipId chip = 0; chip < work.size(); ++chip) {
    if (work[chip].turns.empty()) continue;  // chips at the end that are not used
    program.devices[package.devices[chip]] = ChipWriter(package, work[chip], chip, program, inputs).write();
  }
  return program;
}

}  // namespace tessera::strategy::mcm
