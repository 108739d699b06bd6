// The memory of one GPU: L2 in front of the channels of HBM (T3, table 1;
// docs/t3.md).
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "sim/memory/cache.hpp"
#include "sim/memory/channel.hpp"
#include "sim/memory/l2_bank.hpp"
#include "sim/memory/memory_layout.hpp"

namespace tessera::sim {

struct MemorySystemSpec {
  CacheSpec cache;
  ChannelSpec channel;
  std::uint32_t channels = 32;
  ArbitrationSpec arbitration;
  L2Limits limits;
};

/// Whose memory it is. What it is told from within a call may call back.
class MemoryClient {
 public:
  virtual ~MemoryClient() = default;
  /// What `owner` has read is there at `at`, which may be later than now. One
  /// call for each read that was not known.
  virtual void arrived(std::uint32_t owner, Time at) = 0;
  /// An uncached store or update has entered a DRAM queue: a call for each access, with its bytes.
  virtual void stored(const MemoryRequest& request, Time now) = 0;
  /// A store of `owner` that had to wait for its place in the L2 has it. One call for each.
  virtual void room_made(std::uint32_t owner, Time now) = 0;
  /// The DRAM has moved, or will have, what a request asks for by `at`.
  virtual void served(const MemoryRequest& request, Time at) = 0;
  /// Call MemorySystem::wake(now, channel) at `at`.
  virtual void wake_channel(std::uint32_t channel, Time at) = 0;
};

/// All that changes in a GPU's memory outside of its channels.
struct MemoryState {
  static constexpr std::uint32_t none = ~std::uint32_t{0};
  struct Fetch {
    Time data_at = 0;           ///< when the latest one arrives
    std::uint32_t missing = 0;  ///< accesses that DRAM has yet to serve
    std::uint32_t first_waiter = none;
  };
  struct Waiter {
    std::uint32_t owner = 0;
    std::uint32_t next = none;
  };

  std::string policy;  ///< of arbitration, that all channels follow
  Cache cache;
  MemoryLayout layout = {};
  std::vector<L2Bank> banks = {};        ///< of the L2
  std::vector<std::uint32_t> turn = {};  ///< by channel: the bank in front of it that goes next when several wait
  std::vector<Fetch> fetches = {};       ///< by entry of the L2
  std::vector<Waiter> waiters = {};
  std::uint32_t free_waiter = none;
};

struct SavedMemory {
  MemoryState memory;
  std::vector<ChannelState> channels;
};

class MemorySystem {
 public:
  /// `client` outlives it. Throws InputError where the spec makes no sense.
  MemorySystem(const MemorySystemSpec& spec, MemoryClient& client);

  /// Reads a block through the L2 for the compute stream: when it is there, or
  /// `never` where that is not known yet; then the client is told. What needs the
  /// DRAM while the channel's queue or the bank's miss registers are full holds
  /// up its bank of the L2, and all that comes to that bank behind it.
  [[nodiscard]] Time read(Time now, BlockId block, std::uint32_t bytes, TrafficClass traffic, std::uint32_t owner);
  /// Past the L2; the client is always told. What the compute stream asks for
  /// takes its turn in its bank all the same, as stores do.
  void read_uncached(Time now, BlockId block, std::uint32_t bytes, MemoryStream stream, TrafficClass traffic,
                     std::uint32_t owner);
  struct Stored {
    Time served = 0;     ///< when its bank has taken it
    bool waits = false;  ///< its bank is held up, or a dirty block has to leave: the client is told (room_made)
  };
  /// As `owner` of a store: it is not told.
  static constexpr std::uint32_t nobody = ~std::uint32_t{0};
  /// Stores a whole block into the L2. It waits until a dirty block whose place it takes has entered its DRAM queue,
  /// which may be told before this returns.
  [[nodiscard]] Stored write(Time now, BlockId block, std::uint32_t bytes, TrafficClass traffic, std::uint32_t owner);
  /// A store or update past the L2. `owner` and `detail` come back in
  /// MemoryClient::stored.
  void push_uncached(Time now, const MemoryRequest& request);
  /// Writes dirty blocks back and empties the L2: what happens between kernels.
  void flush(Time now, TrafficClass traffic);

  void wake(Time now, std::uint32_t channel);
  void lay_out(const MemoryLayout& layout) { state_.layout = layout; }
  /// All channels follow the policy of this name from now on.
  void arbitrate(Time now, const std::string& policy);
  [[nodiscard]] std::vector<MemoryChannel*> channels();
  [[nodiscard]] std::vector<const MemoryChannel*> channels() const;
  [[nodiscard]] const Cache& cache() const { return state_.cache; }

  [[nodiscard]] SavedMemory save() const;
  /// Goes on from the state of another memory of the same spec.
  void restore(SavedMemory saved);

 private:
  static constexpr std::uint32_t none = MemoryState::none;
  /// Requests of the memory system itself, by `detail`.
  enum Detail : std::uint32_t {
    direct_read = ~std::uint32_t{0},
    write_back = direct_read - 1,
    room = direct_read - 2,    ///< a write-back that a store of `owner` waits for
    silent = direct_read - 3,  ///< all but the last access of what is told once
    fetch = 0xE000'0000U,      ///< plus the bank of the L2 that fetches; `owner` is the entry
  };

  /// A channel announces for itself.
  struct Channel final : ChannelSink {
    Channel(const MemorySystemSpec& spec, MemorySystem& owner, std::uint32_t index);
    void enqueued(const MemoryRequest& request, Time now) override { system->enqueued(request, now); }
    void done(const MemoryRequest& request, Time at) override { system->done(request, at); }
    void wake(Time at) override { system->client_->wake_channel(number, at); }
    MemorySystem* system;
    std::uint32_t number;
    MemoryChannel channel;
  };
  [[nodiscard]] ArbitrationPointer arbitration() const;
  [[nodiscard]] L2Access access(L2Access::Kind kind, const MemoryRequest& request) const;
  [[nodiscard]] std::uint32_t bank_of(BlockSpread::Place place) const {
    const std::uint32_t bank = place.index * banks_of_channel_ + place.run % banks_of_channel_;
    return bank < state_.banks.size() ? bank : bank % static_cast<std::uint32_t>(state_.banks.size());
  }

  void enqueued(const MemoryRequest& request, Time now);
  void done(const MemoryRequest& request, Time at);
  void push(Time now, const MemoryRequest& request) { push_all(state_.layout.find(request.block), now, request); }
  void push_all(const MemoryBlocks& blocks, Time now, MemoryRequest request);
  /// None is without bytes, at the edge of a matrix.
  static std::uint32_t accesses(const MemoryBlocks& blocks, std::uint32_t bytes) {
    return std::min(blocks.count, bytes);
  }
  void push_to(BlockSpread::Place place, Time now, MemoryRequest request);

  // What comes to a bank of the L2, in turn.
  using Answer = std::optional<Stored>;  // of a read: when it is there; none: it has to wait for its turn
  [[nodiscard]] Answer come(const L2Access& access, Time now);
  [[nodiscard]] bool serve_one(std::uint32_t bank, Time now);
  [[nodiscard]] bool held_up(const L2Access& access, Time now);
  [[nodiscard]] Stored carry_out(const L2Access& access, Time now);
  [[nodiscard]] Time load(const L2Access& access, Time now);
  [[nodiscard]] Stored store(const L2Access& access, Time now);
  void answer(const L2Access& access, const Stored& result, Time now);

  void wait(std::uint32_t entry, std::uint32_t owner);
  void write_victim_back(Time now, const CacheResult& result, TrafficClass traffic);
  void free_register(std::uint32_t bank, Time at);
  void tell_waiters(std::uint32_t entry, Time there);

  MemorySystemSpec spec_;
  MemoryClient* client_;
  BlockSpread spread_;
  std::uint32_t banks_of_channel_;  // of the L2; 1 where several channels share one
  std::deque<Channel> channels_;    // they announce to themselves, so they must not move
  MemoryState state_;
};

}  // namespace tessera::sim
