#include "families.hpp"

namespace tessera::workload {

const std::vector<Family>& families() {
  static const std::vector<Family> all = {
      {{"bert"}, read_bert},
      {{"bloom"}, read_bloom},
      {{"cohere"}, read_cohere},
      {{"cohere2"}, read_cohere2},
      {{"deepseek_v2"}, read_deepseek_v2},
      {{"deepseek_v3"}, read_deepseek_v3},
      {{"falcon"}, read_falcon},
      {{"gemma"}, read_gemma},
      {{"gemma2"}, read_gemma2},
      {{"gemma3"}, read_gemma3},
      {{"gemma3_text"}, read_gemma3_text},
      {{"glm"}, read_glm},
      {{"glm4"}, read_glm4},
      {{"glm4_moe"}, read_glm4_moe},
      {{"gpt2"}, read_gpt2},
      {{"gpt_neox"}, read_gpt_neox},
      {{"gpt_oss"}, read_gpt_oss},
      {{"granite"}, read_granite},
      {{"hstu"}, read_hstu},
      {{"jamba"}, read_jamba},
      {{"llama", "mistral"}, read_llama},
      {{"llama4"}, read_llama4},
      {{"llama4_text"}, read_llama4_text},
      {{"llava"}, read_llava},
      {{"llava_next"}, read_llava_next},
      {{"mamba"}, read_mamba},
      {{"mamba2"}, read_mamba2},
      {{"mixtral"}, read_mixtral},
      {{"olmo2"}, read_olmo2},
      {{"olmo3"}, read_olmo3},
      {{"opt"}, read_opt},
      {{"phi3"}, read_phi3},
      {{"qwen2"}, read_qwen2},
      {{"qwen2_5_vl"}, read_qwen2_5_vl},
      {{"qwen2_moe"}, read_qwen2_moe},
      {{"qwen2_vl"}, read_qwen2_vl},
      {{"qwen3"}, read_qwen3},
      {{"qwen3_moe"}, read_qwen3_moe},
      {{"qwen3_next"}, read_qwen3_next},
      {{"SD3Transformer2DModel"}, read_sd3},
  };
  return all;
}

}  // namespace tessera::workload
