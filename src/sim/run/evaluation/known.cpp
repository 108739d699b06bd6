#include "known.hpp"

#include "least_collective.hpp"

namespace tessera::sim {

Time KnownTimes::time(const workload::Operator& op, const machine::DeviceSpec& device) const {
  // Each member bound: one that is added does not compile until somebody has decided about it here.
  const auto& [kind, name, datatype, batch, m, n, k, visible, flops, read, written, host, convolution, scales] = op;
  Key key{flops, read,     written,    scales, batch,        m,
          n,     k,        visible,    host,   device.cores, device.memory_bandwidth.value(),
          kind,  datatype, convolution};
  const auto found = known_.find(key);
  if (found != known_.end()) return found->second;
  const Time time = cost_->time(op, device);
  known_.emplace(std::move(key), time);
  return time;
}

Time LeastTimes::of(const program::Program& program, std::uint32_t collective, program::GroupId group,
                    CostTables& costs) {
  const program::Collective& one = program.collectives[collective];
  const auto& [kind, slot, bytes, element, algorithm, root, shares, rings, protocols] = one;
  const program::Group& members = program.groups[group];
  Key key{kind,  bytes.value(),           element.value(), algorithm,       root,
          rings, program.free_reductions, shares,          members.members, protocols};
  const auto found = known_.find(key);
  if (found != known_.end()) return found->second;
  const Time time = least_time(one, members, *machine_, costs);
  known_.emplace(std::move(key), time);
  return time;
}

}  // namespace tessera::sim
