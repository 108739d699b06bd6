// made_up_run OUT.h5 STAGES TENSOR MICRO_BATCHES: a result file as a pipelined run would leave it, without simulating
// one: input of the tests of analysis/, and a way to look at its figures for any machine size. One forward, one
// backward schedule; a tenth of each computation is tensor communication; durations vary a little from stage to stage.
#include <algorithm>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <string>
#include <vector>

#include "tessera/results/results.hpp"

namespace {

using namespace tessera;
using namespace tessera::results;

enum Activity {
  forward,
  backward,
  recomputation,
  optimizer,
  tensor_communication,
  data_communication,
  pipeline_communication,
  bubble,
  idle
};
enum Category { weights, gradients, optimizer_state, activations, buffers };

struct Shape {
  std::uint32_t stages, tensor, micro_batches;
};

/// What one stage does, in order: (micro-batch, is it a forward).
std::vector<std::pair<std::uint32_t, bool>> schedule(const Shape& shape, std::uint32_t stage) {
  std::vector<std::pair<std::uint32_t, bool>> order;
  const std::uint32_t ahead = std::min(shape.micro_batches, shape.stages - stage);
  for (std::uint32_t m = 0; m < ahead; ++m) order.emplace_back(m, true);
  for (std::uint32_t m = ahead; m < shape.micro_batches; ++m) {
    order.emplace_back(m - ahead, false);
    order.emplace_back(m, true);
  }
  for (std::uint32_t m = shape.micro_batches - ahead; m < shape.micro_batches; ++m) order.emplace_back(m, false);
  return order;
}

constexpr Time transfer = 400 * microsecond;

Time forward_time(std::uint32_t stage) { return (10 + stage % 3) * millisecond; }
Time backward_time(std::uint32_t stage) { return 3 * forward_time(stage); }

/// End of every forward and backward of every stage, by relaxation in the order of the schedules.
struct Ends {
  std::vector<std::vector<Time>> forward, backward;
};

Ends solve(const Shape& shape) {
  const std::vector<Time> none(shape.micro_batches, -1);
  Ends ends{std::vector<std::vector<Time>>(shape.stages, none), std::vector<std::vector<Time>>(shape.stages, none)};
  std::vector<std::vector<std::pair<std::uint32_t, bool>>> orders;
  for (std::uint32_t s = 0; s < shape.stages; ++s) orders.push_back(schedule(shape, s));
  std::vector<std::size_t> next(shape.stages, 0);
  std::vector<Time> free(shape.stages, 0);
  for (bool moved = true; moved;) {
    moved = false;
    for (std::uint32_t s = 0; s < shape.stages; ++s) {
      for (; next[s] < orders[s].size(); ++next[s], moved = true) {
        const auto [m, is_forward] = orders[s][next[s]];
        const bool edge = is_forward ? s == 0 : s + 1 == shape.stages;
        const Time ready = edge ? 0 : is_forward ? ends.forward[s - 1][m] : ends.backward[s + 1][m];
        if (ready < 0) break;
        const Time start = std::max(free[s], edge ? 0 : ready + transfer);
        free[s] = start + (is_forward ? forward_time(s) : backward_time(s));
        (is_forward ? ends.forward : ends.backward)[s][m] = free[s];
      }
    }
  }
  return ends;
}

/// One device's rows.
class Recorder {
 public:
  Recorder(RunResults& results, std::uint32_t device) : results_(&results), device_(device) {
    row_.device = device;
    row_.node = device / 8;
    row_.activity.assign(idle + 1, 0);
  }
  void until(Time end, Activity activity) {
    if (end <= now_) return;
    row_.activity[activity] += end - now_;
    intervals_.push_back({device_, 0, static_cast<std::uint16_t>(activity + 1), activity, now_, end});
    now_ = end;
  }
  void hold(Category category, std::int64_t bytes) {
    level_[category] += bytes;
    results_->memory_changes.push_back({device_, category, now_, level_[category]});
    std::int64_t total = 0;
    for (const std::int64_t level : level_) total += level;
    if (total > row_.peak_memory) {
      row_.peak_memory = total;
      row_.peak_memory_time = now_;
      std::copy(std::begin(level_), std::end(level_), at_peak_);
    }
  }
  [[nodiscard]] Time now() const { return now_; }
  void finish(Time end) {
    row_.finished = now_;
    row_.activity[idle] += end - now_;
    row_.flops = row_.activity[forward] * 100;
    row_.bytes_sent = row_.bytes_received = row_.activity[tensor_communication] / 10;
    row_.messages = 1000;
    results_->device_rows.push_back(row_);
    results_->intervals.add({device_, intervals_});
    for (std::uint16_t c = 0; c <= buffers; ++c)
      results_->memory_rows.push_back({device_, c, at_peak_[c], at_peak_[c]});
  }

 private:
  RunResults* results_;
  std::uint32_t device_;
  DeviceRow row_;
  std::vector<Interval> intervals_;
  Time now_ = 0;
  std::int64_t level_[buffers + 1] = {};
  std::int64_t at_peak_[buffers + 1] = {};
};

constexpr std::int64_t megabyte = 1'000'000;

void compute(Recorder& r, Time end, Activity activity) {
  const Time length = end - r.now();
  r.until(end - length / 10, activity);
  r.until(end, tensor_communication);
}

Recorder run_device(RunResults& results, const Shape& shape, const Ends& ends, std::uint32_t device) {
  const std::uint32_t stage = device / shape.tensor;
  Recorder r(results, device);
  const std::int64_t first = stage == 0 ? 2 : 1;
  r.hold(weights, 5'000 * megabyte * first);
  r.hold(gradients, 5'000 * megabyte * first);
  r.hold(optimizer_state, 15'000 * megabyte * first);
  for (const auto& [m, is_forward] : schedule(shape, stage)) {
    const Time end = (is_forward ? ends.forward : ends.backward)[stage][m];
    const Time start = end - (is_forward ? forward_time(stage) : backward_time(stage));
    r.until(start - transfer, bubble);
    r.until(start, pipeline_communication);
    r.hold(activations, is_forward ? 1'500 * megabyte : 0);
    if (!is_forward) compute(r, start + forward_time(stage), recomputation);
    compute(r, end, is_forward ? forward : backward);
    if (!is_forward) r.hold(activations, -1'500 * megabyte);
  }
  r.hold(buffers, 800 * megabyte);
  r.until(r.now() + 9 * millisecond, data_communication);
  r.until(r.now() + 6 * millisecond, optimizer);
  return r;
}

void add_link(RunResults& r, std::uint32_t from, std::uint32_t to, std::uint16_t kind, std::int64_t percent) {
  const auto link = static_cast<std::uint32_t>(r.link_rows.size());
  const Time busy = r.iteration_time / 100 * percent;
  const std::int64_t bandwidth = kind == 0 ? 300'000'000'000 : 25'000'000'000;
  r.link_rows.push_back({link, from, to, kind, bandwidth, busy / second * bandwidth + bandwidth / 50 * percent, 100,
                         busy, percent * 65'536});
}

/// A search of twelve steps that ends at this run, every fifth of which cannot run.
void add_search(RunResults& r) {
  r.predicted = {{"layers", r.iteration_time / 2}, {"all", r.iteration_time / 100 * 98}};
  Time best = 0;
  for (std::int64_t step = 0; step < 12; ++step) {
    const bool runs = step % 5 != 4;
    const Time cost = runs ? r.iteration_time + (11 - step) * (step % 3 + 1) * r.iteration_time / 100 : 0;
    const bool accepted = runs && (best == 0 || cost < best);
    if (accepted) best = cost;
    r.search.push_back({step, "plan " + std::to_string(step), step % 2 == 0 ? "estimate" : "simulated", cost, accepted,
                        !runs      ? "does not fit"
                        : accepted ? ""
                                   : "slower",
                        best, "made up", cost / 100 * 99});
  }
}

RunResults make(const Shape& shape) {
  RunResults r;
  r.title = "A made-up pipeline";
  r.machine = "made-up-cluster";
  r.model = "made-up-model";
  r.strategy = "by-hand";
  r.plan = {{"tensor parallel", std::to_string(shape.tensor)}, {"pipeline parallel", std::to_string(shape.stages)}};
  r.activities = {"forward",
                  "backward",
                  "recomputation",
                  "optimizer",
                  "tensor_communication",
                  "data_communication",
                  "pipeline_communication",
                  "bubble",
                  "idle"};
  r.labels = {"", "layers", "layers backward", "layers again", "adam", "tensor parallel", "gradients", "stage to stage",
              "", ""};
  r.categories = {"weights", "gradients", "optimizer_state", "activations", "buffers"};
  r.link_classes = {"nvlink", "nic", "fabric"};
  r.collective_kinds = {"all_reduce"};
  r.algorithms = {"ring"};
  r.devices = shape.stages * shape.tensor;
  r.memory_capacity = 80'000 * megabyte;
  r.peak_flops = 312'000'000'000'000;
  r.tokens = 2048 * shape.micro_batches;
  const Ends ends = solve(shape);
  std::vector<Recorder> devices;
  for (std::uint32_t d = 0; d < r.devices; ++d) devices.push_back(run_device(r, shape, ends, d));
  for (const Recorder& d : devices) r.iteration_time = std::max(r.iteration_time, d.now());
  for (Recorder& d : devices) d.finish(r.iteration_time);
  r.model_flops = 0.45 * static_cast<double>(r.iteration_time) / 1e12 * static_cast<double>(r.peak_flops * r.devices);
  r.hardware_flops = 1.2 * r.model_flops;
  add_search(r);
  const auto switches = static_cast<std::uint32_t>(r.devices);
  for (std::uint32_t d = 0; d < switches; ++d) {
    r.node_names.push_back("gpu " + std::to_string(d));
    add_link(r, d, switches, 0, 20 + d * 7 % 15);
    add_link(r, d, switches + 1, 1, d * 37 % 60);
    if (d % 8 == 0) add_link(r, switches, switches + 1, 2, d * 11 % 90);
  }
  r.node_names.insert(r.node_names.end(), {"nvswitch 0", "fabric"});
  r.collective_rows.push_back(
      {5, 0, 0, shape.tensor, r.devices * 100, r.devices * 100 * megabyte, r.devices * millisecond, 12 * microsecond});
  return r;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 5) {
    std::cerr << "usage: made_up_run OUT.h5 STAGES TENSOR MICRO_BATCHES\n";
    return 2;
  }
  const auto number = [&](int index) { return static_cast<std::uint32_t>(std::strtoul(argv[index], nullptr, 10)); };
  try {
    Provenance p;
    p.version = "made up";
    p.command = "made_up_run";
    p.synchroniser = "none";
    const auto comm = make_serial_communicator();
    write(argv[1], make({number(2), number(3), number(4)}), p, *comm);
    std::cout << summary(argv[1]);
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 5;
  }
  return 0;
}
