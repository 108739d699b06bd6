#include "tessera/pdes/engine.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "engine_core.hpp"

namespace tessera::pdes {

namespace {

/// Events, or short windows, between two looks at the clock and at interruptions.
constexpr int events_per_look = 1024;
constexpr int windows_per_look = 16;
constexpr double seconds_per_report = 0.25;
/// Events between fetching a component into the cache and its turn.
constexpr std::size_t fetch_distance = 8;

}  // namespace

Engine::Engine(const ModelGraph& model, const Partition& partition, Communicator& comm) : comm_(comm) {
  std::optional<Failure> failure;
  ComponentId creating = 0;
  try {
    check_model(model);
    if (partition.rank_of.size() != model.components || partition.ranks != comm.size()) {
      throw InternalError(
          fmt::format("a partition of {} components into {} ranks does not fit a model of {} components on {} ranks",
                      partition.rank_of.size(), partition.ranks, model.components, comm.size()));
    }
    wiring_ = wire(model, partition, comm.rank(), kernel_);
    create_components(model, creating);
    promises_.resize(wiring_.boundary.size());
    for (std::uint32_t k = 0; k < promises_.size(); ++k) promises_[k].boundary = k;
  } catch (...) {
    failure = current_failure(-1, creating);
  }
  throw_smallest(comm, failure);
  context_.kernel_ = &kernel_;
}

Engine::~Engine() {
  while (kernel_.pending.next_time() != never) release(kernel_.pending.pop().slot);
}

void Engine::create_components(const ModelGraph& model, ComponentId& creating) {
  components_.reserve(wiring_.local.size());
  kernel_.components.reserve(wiring_.local.size());
  for (std::size_t k = 0; k < wiring_.local.size(); ++k) {
    creating = wiring_.local[k];
    components_.push_back(model.create(creating));
    if (components_.back() == nullptr) throw InternalError(fmt::format("{} was not created", name_of(model, creating)));
    components_.back()->station_ = wiring_.stations[k];
    kernel_.components.push_back(components_.back().get());
  }
  wiring_.stations = {};  // they live in the components from now on
}

void Engine::enter(detail::Place place, Time now) {
  context_.now_ = now;
  context_.place_ = place;
  context_.station_ = &kernel_.components[place]->station_;
}

void Engine::start_components() {
  for (std::size_t k = 0; k < components_.size() && !failure_; ++k) {
    enter(static_cast<detail::Place>(k), 0);
    try {
      components_[k]->start(context_);
    } catch (...) {
      failure_ = current_failure(-1, wiring_.local[k]);
    }
  }
}

RunStatistics Engine::run(const RunOptions& options) {
  synchroniser_ = make_synchroniser(options.synchroniser, comm_, wiring_, kernel_);
  begin(options);
  for (Step step = synchroniser_->exchange(standing()); !step.finished; step = synchroniser_->exchange(standing())) {
    work(step.horizon);
    if (auto broken = broken_promise(kernel_, synchroniser_->promised())) failure_ = std::move(broken);
  }
  const std::int64_t early = comm_.max(interrupted_ ? 2 : over_ ? 1 : 0);
  if (early == 2) throw IoError("the run was interrupted");
  throw_smallest(comm_, failure_);
  worked_ = std::chrono::steady_clock::now() - began_;
  RunStatistics mine = statistics();
  mine.cut_off = early == 1;
  mine.waiting_seconds = synchroniser_->waiting_seconds();
  mine.messages = synchroniser_->messages();
  return mine;
}

void Engine::begin(const RunOptions& options) {
  options_ = &options;
  began_ = std::chrono::steady_clock::now() - worked_;
  over_ = false;
  if (!started_) start_components();
  started_ = true;
}

void Engine::work(Time horizon) {
  ++statistics_.rounds;
  horizon_ = std::min(horizon, options_->end);
  advance(horizon_);
}

void Engine::advance(Time bound) {
  for (bool done = false; !done && !interrupted_ && !over_;) {
    try {
      done = failure_ ? work_off_after_failure() : work_off(bound);
    } catch (...) {
      record_failure();
    }
    if (!done || ++windows_since_look_ == windows_per_look) look_after_the_run();
  }
}

bool Engine::work_off(Time bound) {
  for (int left = events_per_look; left > 0; --left) {
    if (kernel_.pending.next_time() >= bound) return true;
    if (kernel_.pending.new_batch()) [[unlikely]]
      fetch_first();
    const PendingKey key = kernel_.pending.pop();
    __builtin_prefetch(&kernel_.components[kernel_.pending.ahead(2 * fetch_distance).place]);
    fetch(kernel_.pending.ahead(fetch_distance));
    handle(key);
    if (kernel_.pause_asked) [[unlikely]]
      pause();
  }
  return false;
}

void Engine::pause() {
  kernel_.pause_asked = false;
  if (!options_->pause) return;
  try {
    Pause pause(*this);
    options_->pause(pause);
  } catch (...) {
    failure_ = current_failure(-1, 0);  // no event is being handled
  }
}

// All keys, in the order of their events.
std::vector<PendingKey> Engine::take_pending() {
  std::vector<PendingKey> keys;
  keys.reserve(kernel_.pending.size());
  while (kernel_.pending.next_time() != never) keys.push_back(kernel_.pending.pop());
  return keys;
}

std::vector<Event*> Engine::pending() {
  std::vector<Event*> events;
  for (const PendingKey& key : take_pending()) {
    events.push_back(&kernel_.events[key.slot]);
    kernel_.pending.push(key);
  }
  return events;
}

void Engine::skip(Time by) {
  if (comm_.size() > 1) throw InternalError("time is skipped on one of several ranks");
  for (PendingKey key : take_pending()) {
    kernel_.events[key.slot].time += by;
    key.time += by;
    kernel_.pending.push(key);
  }
  context_.now_ += by;
  ++statistics_.skips;
}

void Engine::skip(Time by, const std::function<bool(const Event&)>& of) {
  if (comm_.size() > 1) throw InternalError("time is skipped on one of several ranks");
  for (PendingKey key : take_pending()) {
    Event& event = kernel_.events[key.slot];
    if (of(event)) {
      event.time += by;
      key.time += by;
    }
    kernel_.pending.push(key);
  }
  statistics_.skips += by > 0 ? 1 : 0;
}

void Engine::catch_up() {
  const Context context = context_;
  const std::uint32_t handled = handling_;
  const Event present = kernel_.events[handled];
  while (kernel_.pending.next_time() <= present.time) {
    const PendingKey key = kernel_.pending.pop();
    if (!before(kernel_.events[key.slot], present)) {
      kernel_.pending.push(key);
      break;
    }
    handle(key);
  }
  context_ = context;
  handling_ = handled;
}

Time Pause::now() const { return engine_->now(); }
std::vector<Event*> Pause::pending() const { return engine_->pending(); }
void Pause::skip(Time by) { engine_->skip(by); }
void Pause::skip(Time by, const std::function<bool(const Event&)>& of) { engine_->skip(by, of); }
void Pause::watch(SendWatch* watch) { engine_->kernel().watch = watch; }

// The sorted events that come next say which components are needed soon; without fetching them most events wait for
// memory.
inline void Engine::fetch(const PendingKey& key) const {
  const auto* component = reinterpret_cast<const char*>(kernel_.components[key.place]);
  __builtin_prefetch(component);
  __builtin_prefetch(component + 64);
}

void Engine::fetch_first() const {
  for (std::size_t k = 0; k <= 2 * fetch_distance; ++k)
    __builtin_prefetch(&kernel_.components[kernel_.pending.ahead(k).place]);
  for (std::size_t k = 0; k <= fetch_distance; ++k) fetch(kernel_.pending.ahead(k));
}

// Only errors at the same time of a component with a smaller id count now; those follow from events that are still
// pending.
bool Engine::work_off_after_failure() {
  while (kernel_.pending.next_time() <= failure_->time) {
    const PendingKey key = kernel_.pending.pop();
    if (wiring_.local[key.place] < failure_->component) {
      handle(key);
    } else {
      release(key.slot);
    }
  }
  return true;
}

inline void Engine::handle(const PendingKey& key) {
  handling_ = key.slot;
  Component& component = *kernel_.components[key.place];
  context_.now_ = key.time;
  context_.place_ = key.place;
  context_.station_ = &component.station_;
  ++statistics_.events;
  component.handle(context_, kernel_.events[key.slot]);
  release(key.slot);
}

inline void Engine::release(std::uint32_t slot) {
  const Event& event = kernel_.events[slot];
  if ((event.flags & detail::out_of_line) != 0) [[unlikely]]
    kernel_.messages.destroy(event);
  kernel_.events.release(slot);
}

void Engine::record_failure() {
  failure_ = current_failure(context_.now_, context_.self());
  release(handling_);
}

// The ranks take the smallest promise. A promise holds for good, so only who gave the smallest is asked again, until
// the smallest is a fresh one; or one that is worth no more than the lookahead, which no other answer could mend.
Time Engine::ask_promise() {
  if (promises_.empty()) return never;
  const Time worthless = saturating_add(horizon_, wiring_.lookahead);
  const auto later = [](const Promise& a, const Promise& b) { return a.time > b.time; };
  const std::uint64_t round = statistics_.rounds;
  while (promises_.front().asked != round) {
    std::pop_heap(promises_.begin(), promises_.end(), later);
    Promise& given = promises_.back();
    const Boundary& boundary = wiring_.boundary[given.boundary];
    const Time promise = kernel_.components[boundary.place]->earliest_output(horizon_, boundary.latency);
    given.time = std::max({given.time, promise, saturating_add(horizon_, boundary.latency)});
    given.asked = round;
    const Time time = given.time;
    std::push_heap(promises_.begin(), promises_.end(), later);
    if (time <= worthless) break;
  }
  return promises_.front().time;
}

// What was foreseen holds until something comes from another rank, and what holds whatever comes is foreseen as well.
// To ask anew is to ask all components: only where there is nothing else.
Time Engine::ask_foresight(Time promise) {
  const Time worthless = saturating_add(horizon_, wiring_.lookahead);
  foreseen_ = kernel_.prompted ? promise : std::max(foreseen_, promise);
  kernel_.prompted = false;
  if (foreseen_ <= worthless) {
    foreseen_ = std::max(worthless, kernel_.foresight->earliest_unprompted(horizon_, wiring_.lookahead));
  }
  return foreseen_;
}

Standing Engine::standing() {
  Standing mine;
  mine.horizon = horizon_;
  mine.next_event = kernel_.pending.next_time();
  mine.promise = ask_promise();
  if (kernel_.foresight != nullptr && (synchroniser_ == nullptr || synchroniser_->asks_foresight()))
    mine.unprompted = ask_foresight(mine.promise);
  mine.failure = failure_ ? failure_->time : never;
  mine.end = options_->end;
  mine.interrupted = interrupted_ || over_;
  return mine;
}

double Engine::wall_seconds() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - began_).count();
}

void Engine::look_after_the_run() {
  windows_since_look_ = 0;
  try {
    if (options_->interrupted && options_->interrupted()) interrupted_ = true;
    if (options_->is_over && options_->is_over()) over_ = true;
    if (!options_->progress || comm_.rank() != 0) return;
    const double now = wall_seconds();
    if (now - reported_at_ < seconds_per_report) return;
    reported_at_ = now;
    options_->progress({context_.now_, statistics_.events, statistics_.rounds, now,
                        synchroniser_ ? synchroniser_->waiting_seconds() : 0});
  } catch (...) {
    // What the caller of run() hands in may fail as well; the other ranks must not wait for this one then.
    failure_ = current_failure(-1, 0);
  }
}

RunStatistics Engine::statistics() const {
  RunStatistics statistics = statistics_;
  statistics.last_event = context_.now_;
  statistics.wall_seconds = wall_seconds();
  return statistics;
}

Simulation::Simulation(const ModelGraph& model, const Partition& partition, Communicator& comm)
    : engine_(std::make_unique<Engine>(model, partition, comm)) {}
Simulation::~Simulation() = default;
RunStatistics Simulation::run(const RunOptions& options) { return engine_->run(options); }
const std::vector<ComponentId>& Simulation::local_ids() const { return engine_->local_ids(); }
Component& Simulation::local(std::size_t index) { return engine_->local(index); }
void Simulation::catch_up() { engine_->catch_up(); }
std::vector<Event> Simulation::pending() {
  std::vector<Event> events;
  for (const Event* event : engine_->pending()) events.push_back(*event);
  return events;
}

}  // namespace tessera::pdes
