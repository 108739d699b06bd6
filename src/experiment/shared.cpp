// What rank 0 has read, on all ranks.
#include "tessera/base/messages.hpp"
#include "tessera/base/together.hpp"
#include "tessera/experiment/experiment.hpp"

namespace tessera::experiment {

Source shared(Source source, Communicator& comm) {
  const bool is_reader = comm.rank() == 0;
  source.given = broadcast(comm, std::move(source.given));
  const std::string resolved = broadcast(comm, is_reader ? config::to_toml(*source.table) : std::string());
  source.files = broadcast(comm, std::move(source.files));
  together(comm, [&] {
    if (is_reader) return;
    config::Diagnostics diagnostics;
    source.table = config::parse_toml(resolved, "resolved experiment", diagnostics);
    diagnostics.throw_if_errors();
  });
  return source;
}

}  // namespace tessera::experiment
