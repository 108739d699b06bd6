#include "hosts.hpp"

#include "tessera/machine/routes.hpp"

namespace tessera::strategy::megatron {

program::DeviceId nearest_host(const machine::Machine& machine, program::DeviceId device) {
  const machine::Routes routes(machine.network);
  const auto hops = [&](program::DeviceId host) { return routes.links(device, host).size(); };
  program::DeviceId best = machine.accelerators();
  for (program::DeviceId host = best + 1; host < machine.devices(); ++host)
    if (machine.alive(host) && (!machine.alive(best) || hops(host) < hops(best))) best = host;
  return best;
}

}  // namespace tessera::strategy::megatron
