// The hot path allocates nothing: every use of operator new in this program is counted.
#include <atomic>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <new>

#include "relay_model.hpp"

namespace {
std::atomic<std::uint64_t> allocations{0};

void* counted(std::size_t size, std::size_t alignment) {
  ++allocations;
  void* memory = std::aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}
}  // namespace

// All forms, so that none of them pairs with a delete of another library.
void* operator new(std::size_t size) { return counted(size, alignof(std::max_align_t)); }
void* operator new[](std::size_t size) { return counted(size, alignof(std::max_align_t)); }
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  return counted(size, alignof(std::max_align_t));
}
void* operator new[](std::size_t size, const std::nothrow_t&) noexcept {
  return counted(size, alignof(std::max_align_t));
}
void* operator new(std::size_t size, std::align_val_t alignment) {
  return counted(size, static_cast<std::size_t>(alignment));
}
void* operator new[](std::size_t size, std::align_val_t alignment) {
  return counted(size, static_cast<std::size_t>(alignment));
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }

namespace {

using namespace tessera;
using namespace tessera::pdes;
using pdes::test::mix;

struct Throws;
struct Ball {
  using protocol = Throws;
  std::uint64_t bounces = 0;
};
struct Crate {
  using protocol = Throws;
  std::uint64_t bounces = 0;
  std::array<std::uint64_t, 20> load{};
};
struct Throws : Protocol<Ball, Crate> {};

/// PHOLD with a message out of line now and then; notes how many allocations there were when the warm-up is over.
class Thrower final : public Component {
 public:
  Thrower(ComponentId members, Time warm_up, std::uint64_t& at_warm_up)
      : members_(members), warm_up_(warm_up), at_warm_up_(at_warm_up) {}

  void start(Context& context) override {
    for (int k = 0; k < 4; ++k) throw_on(context, mix(context.self(), 1));
  }
  void handle(Context& context, const Event& event) override {
    if (context.now() < warm_up_) at_warm_up_ = allocations;
    const bool ball = event.kind == Throws::kind_of<Ball>;
    throw_on(context, mix(ball ? event.as<Ball>().bounces : context.get<Crate>(event).bounces, ++handled_));
  }

 private:
  void throw_on(Context& context, std::uint64_t random) {
    const auto to = static_cast<ComponentId>(random % members_);
    const Time at = context.now() + nanosecond + static_cast<Time>((random >> 20) % (20 * nanosecond));
    if (to == context.self()) return context.schedule(at, Ball{random});
    if (random >> 60 == 0) return context.send_to(to, at, Crate{random, {}});
    context.send_to(to, at, Ball{random});
  }

  ComponentId members_;
  Time warm_up_;
  std::uint64_t& at_warm_up_;
  std::uint64_t handled_ = 0;
};

}  // namespace

TEST_CASE("a run in its steady state does not allocate") {
  const ComponentId members = 4'000;
  const Time warm_up = 200 * nanosecond;
  std::uint64_t at_warm_up = 0;
  ModelGraph model;
  model.components = members;
  model.crossbars.push_back({0, members, nanosecond});
  model.protocols = {protocol_info<Throws>()};
  model.create = [&](ComponentId) { return std::make_unique<Thrower>(members, warm_up, at_warm_up); };
  const auto comm = make_serial_communicator();
  Simulation simulation(model, make_partition(model, 1, "block"), *comm);
  RunOptions options;
  options.end = 2'000 * nanosecond;
  const RunStatistics statistics = simulation.run(options);
  const std::uint64_t later = allocations - at_warm_up;
  CHECK(at_warm_up > 0);
  CHECK(statistics.events > 2'500'000);  // 16,000 events in flight, 11 ns each
  CHECK(later == 0);
}
