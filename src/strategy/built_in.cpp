// The list of strategies: one line each.
#include "tessera/strategy/mcm/mcm.hpp"
#include "tessera/strategy/megatron/megatron.hpp"
#include "tessera/strategy/primepar/primepar.hpp"
#include "tessera/strategy/script/script.hpp"
#include "tessera/strategy/strategy.hpp"
#include "tessera/strategy/t3/t3.hpp"
#include "tessera/strategy/watos/watos.hpp"

namespace tessera::strategy {

Strategies built_in_strategies() {
  return {
      mcm::kind(), megatron::kind(), primepar::kind(), script::kind(), t3::kind(), watos::kind(megatron::kind()),
  };
}

}  // namespace tessera::strategy
