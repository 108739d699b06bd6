#include <algorithm>
#include <limits>

#include "tessera/base/error.hpp"
#include "tessera/program/collective.hpp"
#include "tessera/program/program.hpp"

namespace tessera::program {
namespace {

/// Index of an equal element, appended when there is none. The newest are the likeliest.
template <class T>
std::uint32_t index_of(std::vector<T>& list, const T& value) {
  const auto found = std::find(list.rbegin(), list.rend(), value);
  if (found != list.rend()) return static_cast<std::uint32_t>(list.rend() - found - 1);
  list.push_back(value);
  return static_cast<std::uint32_t>(list.size() - 1);
}

}  // namespace

bool Collective::operator==(const Collective& other) const {
  // By all members: one that is added does not compile until somebody has decided about it here.
  const auto& [own_kind, slot, size, of_element, by, from, parts, side_by_side, own_protocols] = *this;
  const bool is_built_in = by.index < list_of({}).size();
  const bool has_same_protocols =
      own_protocols == other.protocols ||
      (own_protocols != nullptr && other.protocols != nullptr && *own_protocols == *other.protocols);
  return own_kind == other.kind && slot == other.group_slot && size == other.bytes && of_element == other.element &&
         by.index == other.algorithm.index && (is_built_in || by.list == other.algorithm.list) && from == other.root &&
         parts == other.shares && side_by_side == other.rings && has_same_protocols;
}

BlockBuilder::BlockBuilder(Program& program, std::string name) : program_(&program) {
  block_.name = std::move(name);
  if (program.labels.empty()) program.labels.emplace_back();
}

BlockBuilder& BlockBuilder::label(const std::string& text) {
  const std::uint32_t index = index_of(program_->labels, text);
  if (index > std::numeric_limits<std::uint16_t>::max()) throw InternalError("more than 65,536 labels in a program");
  label_ = static_cast<std::uint16_t>(index);
  return *this;
}

BlockBuilder& BlockBuilder::activity(Activity activity) {
  activity_ = activity;
  return *this;
}

BlockBuilder& BlockBuilder::add(Op op, std::uint32_t a, std::uint32_t b, std::uint32_t count, Bytes bytes) {
  block_.code.push_back({op, activity_, label_, a, b, count, bytes.value()});
  return *this;
}

BlockBuilder& BlockBuilder::compute(const workload::Operator& op, std::uint32_t times) {
  if (times == 0) return *this;
  return add(Op::compute, index_of(program_->operators, op), 0, times);
}

BlockBuilder& BlockBuilder::send(std::uint32_t peer_slot, Bytes bytes, std::uint32_t channel) {
  return add(Op::send, peer_slot, channel, 1, bytes);
}

BlockBuilder& BlockBuilder::receive(std::uint32_t peer_slot, Bytes bytes, std::uint32_t channel) {
  return add(Op::receive, peer_slot, channel, 1, bytes);
}

BlockBuilder& BlockBuilder::wait_sends() { return add(Op::wait_sends, 0, 0, 1); }

BlockBuilder& BlockBuilder::collective(Collective collective) {
  return add(Op::collective, index_of(program_->collectives, collective), 0, 1);
}

BlockBuilder& BlockBuilder::signal(std::uint32_t event, std::uint32_t count) {
  return count == 0 ? *this : add(Op::signal, event, 0, count);
}

BlockBuilder& BlockBuilder::wait(std::uint32_t event, std::uint32_t count) {
  return count == 0 ? *this : add(Op::wait, event, 0, count);
}

BlockBuilder& BlockBuilder::allocate(MemoryCategory category, Bytes bytes) {
  return bytes == Bytes{0} ? *this : add(Op::allocate, 0, static_cast<std::uint32_t>(category), 1, bytes);
}

BlockBuilder& BlockBuilder::release(MemoryCategory category, Bytes bytes) {
  return bytes == Bytes{0} ? *this : add(Op::release, 0, static_cast<std::uint32_t>(category), 1, bytes);
}

BlockBuilder& BlockBuilder::kernel(const Kernel& kernel) {
  return add(Op::kernel, index_of(program_->kernels, kernel), 0, 1);
}

BlockBuilder& BlockBuilder::mark() { return add(Op::mark, 0, 0, 1); }

BlockBuilder& BlockBuilder::end_phase(const std::string& name) {
  return add(Op::end_phase, index_of(program_->phases, name), 0, 1);
}

BlockBuilder& BlockBuilder::call(BlockId block, std::uint32_t times, std::uint32_t pass) {
  return times == 0 ? *this : add(Op::call, block, pass, times);
}

BlockId BlockBuilder::done() {
  program_->blocks.push_back(std::move(block_));
  block_ = {};
  return static_cast<BlockId>(program_->blocks.size() - 1);
}

}  // namespace tessera::program
