#include "families.hpp"

namespace tessera::workload {

const std::vector<Family>& families() {
  static const std::vector<Family> all = {
      {{"bert"}, read_bert},       {{"bloom"}, read_bloom}, {{"gpt2"}, read_gpt2}, {{"llama", "mistral"}, read_llama},
      {{"mixtral"}, read_mixtral}, {{"opt"}, read_opt},
  };
  return all;
}

}  // namespace tessera::workload
