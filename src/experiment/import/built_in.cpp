// The formats that `tessera import` reads.
#include "formats.hpp"

namespace tessera::experiment::importing {

const std::vector<ImportFormat>& formats() {
  static const std::vector<ImportFormat> all{chakra(), calculon(), hugging_face(), nemo(), megatron_lm()};
  return all;
}

}  // namespace tessera::experiment::importing
