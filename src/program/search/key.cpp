#include <bit>
#include <type_traits>
#include <variant>

#include "tessera/program/collective.hpp"
#include "tessera/program/search/evaluations.hpp"

namespace tessera::program::search {
namespace {

/// FNV-1a over words.
class Hash {
 public:
  template <class T>
  requires std::is_integral_v<T> || std::is_enum_v<T> Hash& operator<<(T value) {
    return word(static_cast<std::uint64_t>(value));
  }
  Hash& operator<<(double value) { return word(std::bit_cast<std::uint64_t>(value)); }
  Hash& operator<<(const std::string& text) {
    *this << text.size();
    for (const char c : text) *this << static_cast<unsigned char>(c);
    return *this;
  }
  template <class T>
  Hash& operator<<(const std::vector<T>& values) {
    *this << values.size();
    for (const T& value : values) *this << value;
    return *this;
  }
  // By their members, each of them bound: one that is added does not compile until somebody has decided about it here.
  Hash& operator<<(const workload::Operator& op) {
    const auto& [kind, name, datatype, batch, m, n, k, visible, flops, read, written, host, convolution, scales] = op;
    all(kind, datatype, batch, m, n, k, visible, flops, read, written, host);
    const auto& [height, width, out_height, out_width, window_height, window_width, stride, pad, dilation] =
        convolution;
    if (scales > 0) *this << scales;
    if (!convolution.is_one()) return *this;
    return all(height, width, out_height, out_width, window_height, window_width, stride, pad, dilation);
  }
  Hash& operator<<(const Instruction& one) {
    const auto& [op, activity, label, a, b, count, bytes] = one;
    return all(op, activity, a, op == Op::call ? 0 : b, count, bytes);  // of a call, timelines alone show it
  }
  Hash& operator<<(const Block& block) {
    const auto& [name, code] = block;
    return all(code);
  }
  Hash& operator<<(const Collective& one) {
    const auto& [kind, group, bytes, element, algorithm, root, shares, rings, protocols] = one;
    // One that a program has added may stand elsewhere in another program's list.
    if (algorithm.index >= list_of({}).size()) *this << algorithm_of(algorithm).name();
    if (protocols != nullptr) *this << *protocols;
    return all(kind, group, bytes.value(), element.value(), algorithm.index, root, shares, rings);
  }
  Hash& operator<<(const Protocol& one) {
    const auto& [name, algorithm, payload, most, most_across, start, step, step_across] = one;
    return all(algorithm, payload, most.value(), most_across.value(), start, step, step_across);
  }
  Hash& operator<<(const MapCall& call) {
    const auto& [kind, chunk, shift, operation, updates] = call;
    return all(kind, chunk, shift, operation, updates);
  }
  Hash& operator<<(const GemmShape& shape) {
    const auto& [m, n, k, tile_m, tile_n, tile_k, element, peak, a_turned, b_turned, split_k, wavefronts, order] =
        shape;
    return all(m, n, k, tile_m, tile_n, tile_k, element, peak, a_turned, b_turned, split_k, wavefronts, order);
  }
  Hash& operator<<(const GemmKernel& gemm) {
    const auto& [shape, map, input_map, reduction, calls, dma_tiles, arbitration] = gemm;
    return all(shape, map, input_map, reduction, calls, dma_tiles, arbitration);
  }
  Hash& operator<<(const CopyKernel& copy) {
    const auto& [bytes, kind, near_memory] = copy;
    return all(bytes, kind, near_memory);
  }
  Hash& operator<<(const Kernel& kernel) {
    const auto& [work, group, cus, memory] = kernel;
    all(work.index(), group, cus, memory);
    std::visit([this](const auto& one) { *this << one; }, work);
    return *this;
  }
  Hash& operator<<(const Group& group) {
    const auto& [members] = group;
    return all(members);
  }
  Hash& operator<<(const DeviceProgram& device) {
    const auto& [streams, peers, groups, events] = device;
    return all(streams, peers, groups, events);
  }
  Hash& operator<<(const machine::BoundWay& way) {
    const auto& [connection, links] = way;
    const auto& [from, to, channel] = connection;
    return all(from, to, channel, links);
  }
  Hash& operator<<(const Program& program) {
    const auto& [operators, blocks, collectives, kernels, groups, devices, labels, replicas, activities, categories,
                 free_reductions, channels, memory_packet, issue_interval, ways, phases] = program;
    all(operators, blocks, collectives, kernels, groups, devices, activities.size(), categories.size(), free_reductions,
        channels);
    if (memory_packet > 0) all(memory_packet);
    if (issue_interval > 0) all(issue_interval);
    return ways.empty() ? *this : *this << ways;
  }
  [[nodiscard]] std::uint64_t value() const { return value_; }

 private:
  template <class... Values>
  Hash& all(const Values&... values) {
    return (*this << ... << values);
  }
  Hash& word(std::uint64_t word) {
    for (int shift = 0; shift < 64; shift += 8) value_ = (value_ ^ (word >> shift & 0xffU)) * 0x100000001b3U;
    return *this;
  }
  std::uint64_t value_ = 0xcbf29ce484222325U;
};

}  // namespace

std::uint64_t key_of(const Program& program, Fidelity fidelity) {
  Hash hash;
  hash << fidelity << program;
  return hash.value();
}

}  // namespace tessera::program::search
