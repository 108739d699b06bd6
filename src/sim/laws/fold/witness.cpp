#include "sim/laws/fold/witness.hpp"

namespace tessera::sim {
namespace {

/// Another number from any two, evenly spread (the finaliser of SplitMix64: Steele, Lea, Flood, OOPSLA 2014).
std::uint64_t mix(std::uint64_t a, std::uint64_t b) {
  std::uint64_t x = a * 0x9e3779b97f4a7c15U + b;
  x = (x ^ x >> 30U) * 0xbf58476d1ce4e5b9U;
  x = (x ^ x >> 27U) * 0x94d049bb133111ebU;
  return x ^ x >> 31U;
}

template <class... Numbers>
std::uint64_t mix(std::uint64_t first, std::uint64_t second, std::uint64_t third, Numbers... others) {
  return mix(mix(first, second), third, static_cast<std::uint64_t>(others)...);
}

}  // namespace

std::uint64_t Witness::hash(Time at, machine::LinkId link, machine::NodeId destination, const MessageName& name) const {
  return mix(static_cast<std::uint64_t>(at), fold_->shifted_link(link, back_), fold_->shifted(destination, back_),
             fold_->shifted(name.sender, back_), fold_->shifted_channel(name.channel, back_), name.sequence);
}

// Generations only tell segments apart.
void Witness::sees(Time at, machine::LinkId link, machine::NodeId destination, const Segment& segment) {
  const PacketTimes& law = segment.times;
  sum_ += mix(hash(at, link, destination, segment.name), 1, static_cast<std::uint64_t>(segment.waited_until), law.base,
              law.offset, law.stride, law.last, law.last_bytes, law.count, segment.final,
              segment.shortens ? segment.earlier.packets + 1U : 0U);
}

void Witness::sees(Time at, machine::LinkId link, machine::NodeId /*of the first*/, const Segments& segments) {
  for (const Segment& segment : segments.span()) sees(at, link, segment.destination, segment);
}

void Witness::sees(Time at, machine::LinkId link, machine::NodeId destination, const Delivered& delivered) {
  sum_ += mix(hash(at, link, destination, delivered.name), 2, static_cast<std::uint64_t>(delivered.waited_until));
}

void Witness::sees(Time at, machine::LinkId link, machine::NodeId destination, const Amend& amend) {
  sum_ += mix(hash(at, link, destination, amend.name), 3, amend.packets);
}

}  // namespace tessera::sim
