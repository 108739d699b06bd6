#include <algorithm>
#include <functional>
#include <limits>

#include "tessera/base/error.hpp"
#include "tessera/program/program.hpp"

namespace tessera::program {
namespace {

bool same(const std::shared_ptr<const Protocols>& a, const std::shared_ptr<const Protocols>& b) {
  return a == b || (a != nullptr && b != nullptr && *a == *b);
}

bool same(const Collective& a, const Collective& b) {
  return a.kind == b.kind && a.group_slot == b.group_slot && a.bytes == b.bytes && a.element == b.element &&
         a.algorithm == b.algorithm && a.root == b.root && a.shares == b.shares && a.rings == b.rings &&
         same(a.protocols, b.protocols);
}

/// Index of an equal element, appended when there is none. The newest are the likeliest.
template <class T, class Equal>
std::uint32_t index_of(std::vector<T>& list, const T& value, const Equal& equal) {
  const auto found = std::find_if(list.rbegin(), list.rend(), [&](const T& other) { return equal(other, value); });
  if (found != list.rend()) return static_cast<std::uint32_t>(list.rend() - found - 1);
  list.push_back(value);
  return static_cast<std::uint32_t>(list.size() - 1);
}

}  // namespace

BlockBuilder::BlockBuilder(Program& program, std::string name) : program_(&program) {
  block_.name = std::move(name);
  if (program.labels.empty()) program.labels.emplace_back();
}

BlockBuilder& BlockBuilder::label(const std::string& text) {
  const std::uint32_t index = index_of(program_->labels, text, std::equal_to<>());
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
  return add(Op::compute, index_of(program_->operators, op, std::equal_to<>()), 0, times);
}

BlockBuilder& BlockBuilder::send(std::uint32_t peer_slot, Bytes bytes, std::uint32_t channel) {
  return add(Op::send, peer_slot, channel, 1, bytes);
}

BlockBuilder& BlockBuilder::receive(std::uint32_t peer_slot, Bytes bytes, std::uint32_t channel) {
  return add(Op::receive, peer_slot, channel, 1, bytes);
}

BlockBuilder& BlockBuilder::wait_sends() { return add(Op::wait_sends, 0, 0, 1); }

BlockBuilder& BlockBuilder::collective(Collective collective) {
  const auto equal = [](const Collective& a, const Collective& b) { return same(a, b); };
  return add(Op::collective, index_of(program_->collectives, collective, equal), 0, 1);
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
  return add(Op::kernel, index_of(program_->kernels, kernel, std::equal_to<>()), 0, 1);
}

BlockBuilder& BlockBuilder::mark() { return add(Op::mark, 0, 0, 1); }

BlockBuilder& BlockBuilder::end_phase(const std::string& name) {
  return add(Op::end_phase, index_of(program_->phases, name, std::equal_to<>()), 0, 1);
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
