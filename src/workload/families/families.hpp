// The readers of src/workload/families/, one file each.
#pragma once

#include "../hugging_face.hpp"

namespace tessera::workload {

[[nodiscard]] Model read_bert(HuggingFaceConfig& config);
[[nodiscard]] Model read_bloom(HuggingFaceConfig& config);
[[nodiscard]] Model read_cohere(HuggingFaceConfig& config);
[[nodiscard]] Model read_cohere2(HuggingFaceConfig& config);
[[nodiscard]] Model read_deepseek_v2(HuggingFaceConfig& config);
[[nodiscard]] Model read_deepseek_v3(HuggingFaceConfig& config);
[[nodiscard]] Model read_falcon(HuggingFaceConfig& config);
[[nodiscard]] Model read_gemma(HuggingFaceConfig& config);
[[nodiscard]] Model read_gemma2(HuggingFaceConfig& config);
[[nodiscard]] Model read_gemma3(HuggingFaceConfig& config);
[[nodiscard]] Model read_gemma3_text(HuggingFaceConfig& config);
[[nodiscard]] Model read_glm(HuggingFaceConfig& config);
[[nodiscard]] Model read_glm4(HuggingFaceConfig& config);
[[nodiscard]] Model read_glm4_moe(HuggingFaceConfig& config);
[[nodiscard]] Model read_gpt2(HuggingFaceConfig& config);
[[nodiscard]] Model read_gpt_neox(HuggingFaceConfig& config);
[[nodiscard]] Model read_gpt_oss(HuggingFaceConfig& config);
[[nodiscard]] Model read_granite(HuggingFaceConfig& config);
[[nodiscard]] Model read_hstu(HuggingFaceConfig& config);
[[nodiscard]] Model read_jamba(HuggingFaceConfig& config);
[[nodiscard]] Model read_llama(HuggingFaceConfig& config);
[[nodiscard]] Model read_llama4(HuggingFaceConfig& config);
[[nodiscard]] Model read_llama4_text(HuggingFaceConfig& config);
[[nodiscard]] Model read_llava(HuggingFaceConfig& config);
[[nodiscard]] Model read_llava_next(HuggingFaceConfig& config);
[[nodiscard]] Model read_mamba(HuggingFaceConfig& config);
[[nodiscard]] Model read_mamba2(HuggingFaceConfig& config);
[[nodiscard]] Model read_mixtral(HuggingFaceConfig& config);
[[nodiscard]] Model read_olmo2(HuggingFaceConfig& config);
[[nodiscard]] Model read_olmo3(HuggingFaceConfig& config);
[[nodiscard]] Model read_opt(HuggingFaceConfig& config);
[[nodiscard]] Model read_phi3(HuggingFaceConfig& config);
[[nodiscard]] Model read_qwen2(HuggingFaceConfig& config);
[[nodiscard]] Model read_qwen2_5_vl(HuggingFaceConfig& config);
[[nodiscard]] Model read_qwen2_moe(HuggingFaceConfig& config);
[[nodiscard]] Model read_qwen2_vl(HuggingFaceConfig& config);
[[nodiscard]] Model read_qwen3(HuggingFaceConfig& config);
[[nodiscard]] Model read_qwen3_moe(HuggingFaceConfig& config);
[[nodiscard]] Model read_qwen3_next(HuggingFaceConfig& config);
[[nodiscard]] Model read_sd3(HuggingFaceConfig& config);

}  // namespace tessera::workload
