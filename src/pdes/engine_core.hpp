// The part of the simulation that one rank carries.
#pragma once

#include <chrono>
#include <optional>

#include "failure.hpp"
#include "synchroniser.hpp"
#include "tessera/pdes/engine.hpp"

namespace tessera::pdes {

class Engine {
 public:
  Engine(const ModelGraph& model, const Partition& partition, Communicator& comm);
  ~Engine();
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  RunStatistics run(const RunOptions& options);
  [[nodiscard]] const std::vector<ComponentId>& local_ids() const { return wiring_.local; }
  [[nodiscard]] Component& local(std::size_t index) { return *components_[index]; }

  // See Pause.
  [[nodiscard]] Time now() const { return context_.now(); }
  [[nodiscard]] std::vector<Event*> pending();
  void skip(Time by);
  void skip(Time by, const std::function<bool(const Event&)>& of);
  void catch_up();  ///< Simulation

  // The steps of run(), for whoever keeps several of them in step (side_by_side.cpp):
  void begin(const RunOptions& options);
  [[nodiscard]] Standing standing();
  /// One window: all events before `horizon`.
  void work(Time horizon);
  [[nodiscard]] RunStatistics statistics() const;
  [[nodiscard]] std::uint64_t events() const { return statistics_.events; }
  [[nodiscard]] detail::Kernel& kernel() { return kernel_; }
  [[nodiscard]] const Wiring& wiring() const { return wiring_; }
  [[nodiscard]] const std::optional<Failure>& failure() const { return failure_; }
  void fail(Failure failure) { failure_ = std::move(failure); }

 private:
  /// `creating` is the component in turn, for whoever catches.
  void create_components(const ModelGraph& model, ComponentId& creating);
  void start_components();
  /// Works off all events before `bound`; after an error those up to its time only, see record_failure().
  void advance(Time bound);
  /// Both return true when nothing is left to do, and false every now and then, to look after the run.
  [[nodiscard]] bool work_off(Time bound);
  [[nodiscard]] bool work_off_after_failure();
  void handle(const PendingKey& key);
  void fetch(const PendingKey& key) const;
  void fetch_first() const;
  void release(std::uint32_t slot);
  [[nodiscard]] std::vector<PendingKey> take_pending();
  void pause();
  void enter(detail::Place place, Time now);
  [[nodiscard]] Component& component(ComponentId id) const { return *kernel_.components[kernel_.places[id]]; }
  void record_failure();
  [[nodiscard]] Time ask_promise();
  [[nodiscard]] Time ask_foresight(Time promise);
  void look_after_the_run();
  [[nodiscard]] double wall_seconds() const;

  Communicator& comm_;
  detail::Kernel kernel_;
  Wiring wiring_;
  std::vector<std::unique_ptr<Component>> components_;
  Context context_;
  std::unique_ptr<Synchroniser> synchroniser_;

  const RunOptions* options_ = nullptr;
  RunStatistics statistics_;
  std::optional<Failure> failure_;
  std::uint32_t handling_ = 0;  // slot of the event that is being handled
  bool interrupted_ = false;
  bool over_ = false;  // by RunOptions::is_over, on this rank
  int windows_since_look_ = 0;
  bool started_ = false;
  Time horizon_ = 0;
  Time foreseen_ = 0;  // Foresight::earliest_unprompted, as far as it was asked
  /// Of a component with links that cross ranks: see Component::earliest_output.
  struct Promise {
    Time time = 0;
    std::uint64_t asked = ~std::uint64_t{0};  // in which round
    std::uint32_t boundary = 0;               // index
  };
  std::vector<Promise> promises_;  // heap, the smallest first
  std::chrono::steady_clock::time_point began_;
  std::chrono::steady_clock::duration worked_{};  // in runs to earlier ends
  double reported_at_ = 0;
};

}  // namespace tessera::pdes
