#include "compile.hpp"

#include <algorithm>
#include <map>

#include "ops.hpp"

namespace tessera::strategy::script {
namespace {

using program::BlockBuilder;
using program::BlockId;
using program::DeviceId;

program::MemoryCategory category_of(const StepTable& keys) {
  for (int i = 0; i < program::memory_category_count; ++i) {
    const auto category = static_cast<program::MemoryCategory>(i);
    if (keys.memory == program::name_of(category)) return category;
  }
  return program::MemoryCategory::buffers;
}

/// For each device a number; devices with the same number take part in exactly the same steps.
std::vector<std::uint32_t> classes_of(const Script& script, std::size_t devices) {
  std::vector<std::uint32_t> classes(devices, 0);
  const auto split = [&](const std::vector<Step>& steps) {
    for (const Step& step : steps) {
      std::map<std::pair<std::uint32_t, bool>, std::uint32_t> numbers;
      for (std::size_t device = 0; device < devices; ++device) {
        const auto next = static_cast<std::uint32_t>(numbers.size());
        classes[device] = numbers.try_emplace({classes[device], step.does[device]}, next).first->second;
      }
    }
  };
  for (const auto& block : script.blocks) split(block);
  split(script.steps);
  return classes;
}

/// Writes the code of one class of devices.
class ClassCompiler {
 public:
  ClassCompiler(const Script& script, program::Program& program, DeviceId representative)
      : script_(script), program_(program), device_(representative) {
    for (std::size_t i = 0; i < script.blocks.size(); ++i) {
      BlockBuilder builder(program_, script.block_names[i]);
      bool empty = true;
      for (const Step& step : script.blocks[i]) empty = !add(builder, step) && empty;
      blocks_.push_back(empty ? nothing : builder.done());
    }
  }

  /// Entry blocks of the streams; none for devices that do nothing.
  std::vector<BlockId> streams() {
    std::vector<BlockBuilder> builders;
    for (const Step& step : script_.steps) {
      if (!takes_part(step)) continue;
      const auto stream = static_cast<std::size_t>(step.keys.stream);
      while (builders.size() <= stream) {
        builders.emplace_back(program_, builders.empty() ? "main" : "stream " + std::to_string(builders.size()));
      }
      add(builders[stream], step);
    }
    std::vector<BlockId> entries;
    for (BlockBuilder& builder : builders) entries.push_back(builder.done());
    return entries;
  }

  [[nodiscard]] std::uint32_t events() const { return events_; }

 private:
  static constexpr BlockId nothing = ~BlockId{0};

  [[nodiscard]] bool takes_part(const Step& step) const {
    return step.does[device_] && (step.keys.op != "run" || blocks_.at(step.block) != nothing);
  }

  /// False when the device takes no part.
  bool add(BlockBuilder& builder, const Step& step) {
    if (!takes_part(step)) return false;
    const std::string& label = step.keys.label.empty() ? step.keys.op : step.keys.label;
    const auto repeat = static_cast<std::uint32_t>(step.keys.repeat);
    builder.label(label).activity(step.activity);
    if (step.keys.op == "gemm" || step.keys.op == "compute") {
      builder.compute(step.operation, repeat);
    } else if (step.keys.op == "run") {
      builder.call(blocks_[step.block], repeat);
    } else if (repeat == 1) {
      add_once(builder, step);
    } else {
      BlockBuilder body(program_, label);
      body.label(label).activity(step.activity);
      add_once(body, step);
      builder.call(body.done(), repeat);
    }
    return true;
  }

  void add_once(BlockBuilder& builder, const Step& step) {
    const StepTable& keys = step.keys;
    const auto channel = static_cast<std::uint32_t>(keys.channel);
    const auto event = static_cast<std::uint32_t>(keys.event);
    const auto count = static_cast<std::uint32_t>(keys.count);
    if (keys.op == "signal" || keys.op == "wait") events_ = std::max(events_, event + 1);
    if (keys.op == "send")
      builder.send(step.slot, Bytes{keys.bytes}, channel);
    else if (keys.op == "receive")
      builder.receive(step.slot, Bytes{keys.bytes}, channel);
    else if (keys.op == "wait-sends")
      builder.wait_sends();
    else if (keys.op == "signal")
      builder.signal(event, count);
    else if (keys.op == "wait")
      builder.wait(event, count);
    else if (keys.op == "allocate")
      builder.allocate(category_of(keys), Bytes{keys.bytes});
    else if (keys.op == "release")
      builder.release(category_of(keys), Bytes{keys.bytes});
    else
      builder.collective(step.collective);
  }

  const Script& script_;
  program::Program& program_;
  DeviceId device_;
  std::vector<BlockId> blocks_;  ///< by script block; `nothing` where these devices do nothing in it
  std::uint32_t events_ = 0;
};

}  // namespace

void compile(const Script& script, const GroupSets& groups, const std::vector<PeerSlot>& peers,
             program::Program& program) {
  struct Code {
    std::vector<BlockId> streams;
    std::uint32_t events = 0;
  };
  std::map<std::uint32_t, Code> codes;
  const std::vector<std::uint32_t> classes = classes_of(script, program.devices.size());
  for (DeviceId device = 0; device < classes.size(); ++device) {
    const auto [code, fresh] = codes.try_emplace(classes[device]);
    if (fresh) {
      ClassCompiler compiler(script, program, device);
      code->second.streams = compiler.streams();
      code->second.events = compiler.events();
    }
    program::DeviceProgram& bound = program.devices[device];
    bound.streams = code->second.streams;
    bound.events = code->second.events;
    for (const GroupSet& set : groups.sets()) bound.groups.push_back(set.of_device[device]);
  }
  const auto count = static_cast<DeviceId>(program.devices.size());
  for (const PeerSlot& peer : peers) {
    const std::vector<DeviceId> by_device = peer.by_device(count);
    for (DeviceId device = 0; device < count; ++device) program.devices[device].peers.push_back(by_device[device]);
  }
}

}  // namespace tessera::strategy::script
