// Carries a collective out on real integers, without time: messages are copies of the sender's data when it is posted,
// and members advance in an order that the test chooses. What it checks is what the contract of program/collective.hpp
// promises.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "tessera/program/collective.hpp"

namespace tessera::program {

/// One 64-bit number an element; sums wrap.
using Buffer = std::vector<std::uint64_t>;

class AbstractExecutor {
 public:
  AbstractExecutor(const Collective& collective, const Group& group, const machine::Machine& machine);

  /// Runs all members to the end; `seed` chooses which member advances next. Returns what went wrong; empty when
  /// nothing did.
  std::string run(std::uint32_t seed);

  /// The buffer of each member: filled by the test before run(). An all-to-all leaves what was received in `received`.
  std::vector<Buffer> buffers;
  std::vector<Buffer> received;
  std::uint64_t messages = 0;

 private:
  /// A strand of a member.
  struct Member {
    CollectiveCall call;
    std::uint32_t steps = 0;
    std::uint32_t index = 0;
    bool posted = false;
    Step step;
  };
  using Way = std::tuple<std::uint32_t, std::uint32_t, std::uint16_t>;  // from, to, lane
  struct Message {
    std::int64_t bytes;
    Buffer data;
  };

  void add_strands(CollectiveCall call);
  /// Indexes of the elements that a transfer carries.
  [[nodiscard]] std::vector<std::size_t> elements(const Transfer& transfer) const;
  /// Those of chunks of these ranks.
  [[nodiscard]] std::vector<std::size_t> elements_of(std::span<const std::uint32_t> chunks) const;
  bool advance(Member& member, std::string& problem);
  void post(Member& member, std::string& problem);
  bool all_here(const Member& member) const;
  [[nodiscard]] std::uint64_t sum_at(std::size_t index) const;
  void take(Member& member, std::string& problem);

  const Collective& collective_;
  const Group& group_;
  const machine::Machine& machine_;
  const CollectiveAlgorithm& algorithm_;
  std::vector<Member> members_;
  std::vector<Buffer> begun_with_;  // by member
  std::map<Way, std::deque<Message>> network_;
};

}  // namespace tessera::program
