// From the path of a key to where it stands.
#include "tessera/experiment/experiment.hpp"

namespace tessera::experiment {

config::Location place_of(const config::Table& resolved, const std::string& key) {
  const config::Table* table = &resolved;
  config::Location where = resolved.where();
  for (std::size_t begin = 0; table != nullptr && begin <= key.size();) {
    const std::size_t end = std::min(key.find('.', begin), key.size());
    const config::Value* value = table->find(key.substr(begin, end - begin));
    if (value == nullptr) break;
    if (value->where().line > 0 || !value->where().file.empty()) where = value->where();
    table = value->table();
    begin = end + 1;
  }
  return where;
}

}  // namespace tessera::experiment
