#include "node_costs.hpp"

#include "../cuts/work.hpp"
#include "tessera/machine/device_order.hpp"

namespace tessera::strategy::primepar {

NodeCosts::NodeCosts(const Job& job, const Graph& graph, const Passes& passes)
    : job_(&job), graph_(&graph), passes_(passes), sums_(all_reduce_costs(job)), loads_(job.machine) {
  if (passes.sublayer != nullptr) sublayers_.emplace(job, *passes.sublayer);
  const std::vector<int> order = machine::device_order(job.machine);
  speeds_.assign(order.size() / static_cast<std::size_t>(passes.stages), 1.0);
  for (std::size_t i = 0; i < order.size(); ++i) {
    double& speed = speeds_[i % speeds_.size()];
    speed = std::min(speed, job.machine.speed[static_cast<std::size_t>(order[i])]);
    if (i < speeds_.size()) nodes_.push_back(job.machine.places[static_cast<std::size_t>(order[i])].node);
  }
  slowest_ = static_cast<int>(std::ranges::min_element(speeds_) - speeds_.begin());
}

Time NodeCosts::slowed(int device, Time time) const {
  const double speed = speeds_[static_cast<std::size_t>(device)];
  if (speed == 1.0) return time;
  const double slow = static_cast<double>(time) / speed;
  return slow < static_cast<double>(latest) ? static_cast<Time>(slow) : latest;
}

template <class TimeOf>
Time NodeCosts::slowest(const Slices& slices, const TimeOf& time) const {
  if (slices.is_even()) return slowed(slowest_, time(slowest_));
  return most(slices, [&](int device) { return slowed(device, time(device)); });
}

Time NodeCosts::duration(const workload::Operator& op) const { return job_->cost.time(op, job_->machine.device); }

NodeTimes NodeCosts::times(std::size_t node, const CutNode& cut) {
  NodeTimes found;
  for (const Phase phase : all_phases) {
    if (!cut.slices.op().works_in(phase)) continue;
    between_nodes_ = 0;
    const Time own = computed(node, cut, phase);
    if (phase == Phase::gradient && cut.slices.op().has_parameters()) {  // summed once, not for each micro-batch
      found.backward = saturating_add(found.backward, own);
      found.free = saturating_add(found.free, std::max<Time>(0, own - between_nodes_));
      const Time sums = summed(node, cut, phase);
      found.all = saturating_add(found.all, saturating_times(passes_.in_a_row(), own));
      if (!passes_.overlap_gradients) found.all = saturating_add(found.all, sums);
      (is_across(cut.sums[static_cast<std::size_t>(phase)].groups) ? found.across : found.inside) = sums;
      continue;
    }
    const Time both = saturating_add(own, summed(node, cut, phase));
    const bool is_again = phase == Phase::forward && passes_.recomputation;
    found.all = saturating_add(found.all, saturating_times((is_again ? 2 : 1) * passes_.in_a_row(), both));
    if (phase == Phase::forward && !is_again) continue;
    found.backward = saturating_add(found.backward, both);
    found.free = saturating_add(found.free, std::max<Time>(0, both - between_nodes_));
  }
  return found;
}

bool NodeCosts::is_across(int device, int other) const {
  return nodes_[static_cast<std::size_t>(device)] != nodes_[static_cast<std::size_t>(other)];
}

bool NodeCosts::is_across(const GroupPattern& groups) const {
  return std::any_of(groups.begin(), groups.end(), [&](const std::vector<int>& group) {
    return std::any_of(group.begin(), group.end(), [&](int member) { return is_across(group.front(), member); });
  });
}

/// With ring transfers, and with the sum of what is one sub-layer with it.
Time NodeCosts::computed(std::size_t node, const CutNode& cut, Phase phase) {
  const Node& one = graph_->nodes[node];
  Time sum = one.op.kind == Kind::streaming ? 0 : is_sublayer(cut, phase) ? sublayer(cut, phase) : product(cut, phase);
  const Time streamed = slowest(cut.slices, [&](int device) {
    Time streams = 0;
    for (const workload::Operator& op : streams_on(one, cut.slices, device, phase))
      streams = saturating_add(streams, duration(op));
    return streams;
  });
  return saturating_add(sum, streamed);
}

Time NodeCosts::summed(std::size_t node, const CutNode& cut, Phase phase) {
  const Node& one = graph_->nodes[node];
  Time sum = 0;
  if (phase != Phase::gradient && !cut.statistics.empty())
    sum =
        sums_.time(cut.statistics, most(cut.slices, [&](int device) { return statistics_bytes(cut.slices, device); }));
  const AllReduce& all_reduce = cut.sums[static_cast<std::size_t>(phase)];
  if (all_reduce.groups.empty() || is_sublayer(cut, phase)) return sum;
  const auto bytes = [&](int device) { return summed_bytes(one, cut.slices, device, phase, graph_->element); };
  const Time time = sums_.time(all_reduce.groups, most(cut.slices, bytes));
  if (is_across(all_reduce.groups)) between_nodes_ = saturating_add(between_nodes_, time);
  return saturating_add(sum, time);
}

bool NodeCosts::is_sublayer(const CutNode& cut, Phase phase) const { return sublayers_ && may_be_sublayer(cut, phase); }

Time NodeCosts::sublayer(const CutNode& cut, Phase phase) {
  const GroupPattern& groups = cut.sums[static_cast<std::size_t>(phase)].groups;
  return most_of(cut.slices.devices(), [&](int device) {
    const auto activity = phase == Phase::backward ? program::Activity::backward : program::Activity::forward;
    const workload::Operator gemm = product_on(cut.slices, device, phase, 0, graph_->datatype);
    return sublayers_->time(groups, gemm, activity, speeds_[static_cast<std::size_t>(device)]);
  });
}

/// Each step takes as long as the longer of what it computes and what it sends.
Time NodeCosts::product(const CutNode& cut, Phase phase) {
  Time sum = 0, computed = 0;
  for (int step = 0; step < cut.slices.steps(); ++step) {
    const auto own = [&](int device) {
      return duration(product_on(cut.slices, device, phase, step, graph_->datatype));
    };
    if (step < 2 || !cut.slices.is_even()) computed = slowest(cut.slices, own);  // from the second on all are alike
    Time additions = 0;
    const Time longer = std::max(computed, transfers(cut, phase, step, additions));
    sum = saturating_add(sum, saturating_add(longer, additions));
  }
  return sum;
}

Time NodeCosts::transfers(const CutNode& cut, Phase phase, int step, Time& additions) {
  bool across = false;
  const auto add = [&](const Move& move) {
    loads_.add(move.from, move.to, Bytes{graph_->element * move.elements});
    across = across || is_across(move.from, move.to);
  };
  if (phase == Phase::gradient && step == 0) std::for_each(cut.weights_home.begin(), cut.weights_home.end(), add);
  for (const StepTransfer& transfer : cut.transfers[static_cast<std::size_t>(phase)]) {
    if (transfer.step != step + (transfer.is_sum ? 0 : 1)) continue;
    std::int64_t largest = 0;
    for (const Move& move : transfer.moves) {
      add(move);
      largest = std::max(largest, graph_->element * move.elements);
    }
    if (transfer.is_sum)
      additions = saturating_add(additions, duration(addition(cut.slices.op(), largest, graph_->datatype)));
  }
  const Time time = loads_.take();
  if (across) between_nodes_ = saturating_add(between_nodes_, time);
  return time;
}

}  // namespace tessera::strategy::primepar
