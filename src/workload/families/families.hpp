// The readers of src/workload/families/, one file each.
#pragma once

#include "../hugging_face.hpp"

namespace tessera::workload {

[[nodiscard]] Model read_bert(HuggingFaceConfig& config);
[[nodiscard]] Model read_bloom(HuggingFaceConfig& config);
[[nodiscard]] Model read_gpt2(HuggingFaceConfig& config);
[[nodiscard]] Model read_llama(HuggingFaceConfig& config);
[[nodiscard]] Model read_mixtral(HuggingFaceConfig& config);
[[nodiscard]] Model read_opt(HuggingFaceConfig& config);

}  // namespace tessera::workload
