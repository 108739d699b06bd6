#include "tessera/strategy/profile.hpp"

namespace tessera::strategy {

Work& Work::operator+=(const Work& other) {
  operators += other.operators;
  collectives.insert(collectives.end(), other.collectives.begin(), other.collectives.end());
  return *this;
}

Work LayerProfile::forward() const {
  Work all;
  for (const Work& section : sections) all += section;
  return all;
}

}  // namespace tessera::strategy
