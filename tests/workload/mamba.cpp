// Mamba layers: one by hand, uncut and on one of two tensor ranks; Jamba's kinds of layers.
#include "mixer_layers.hpp"

namespace tessera::workload {
namespace {
namespace mamba_layers {

// h = 16; 32 channels with states of 3 elements; steps from 5 elements of a token; a convolution over 4 tokens with a
// bias. All channels share 5 + 2 x 3 = 11 elements of a token.
const std::string mamba_model = R"(
name = "mamba"
layers = 1
hidden = 16
mixer = "mamba"
heads = 32
head_dim = 1
state_size = 3
conv_width = 4
conv_bias = true
step_rank = 5
state_norms = true
mlp = false
vocabulary = 100
position = "none"
norm = "rmsnorm"
dropout = false
)";

TEST_CASE("parameters of a Mamba layer: channels are cut, norms of what they share are not") {
  const Model model = model_from(mamba_model);
  // In-projection 16 x 64, convolution 32 x 5, 32 x 11 and 5 x 32, per channel 3 decays, a skip and a bias, 32 x 16.
  const std::int64_t cut = 1024 + 160 + 352 + 160 + 160 + 512;
  CHECK(layer_parameters(model, mixer_shape(1)).total() == cut + 11 + 16);
  const ParameterShare half = layer_parameters(model, mixer_shape(2));
  CHECK(half.sharded == cut / 2);
  CHECK(half.replicated == 11 + 16);
  CHECK(product_weights(model, mixer_shape(2)).sharded == (1024 + 512) / 2);
}

TEST_CASE("a Mamba layer in training: tensor ranks sum what channels share, forward and backward") {
  const OperatorSet core = transformer_layer(model_from(mamba_model), mixer_shape(2)).attention_core;
  CHECK(names_of(core.forward) ==
        Names{"convolution", "x projection", "step norm", "B norm", "C norm", "step projection", "selective scan"});
  CHECK(sizes(core.forward[1]) == Sizes{1, 10, 11, 16});
  CHECK(sizes(core.forward[5]) == Sizes{1, 10, 16, 5});
  // Behind the product, before the norms; backward behind the gradients of B and C and of the steps, before the norms'.
  REQUIRE(core.exchange_steps.size() == 1);
  CHECK(core.exchange_steps[0].kind == ExchangeStep::Kind::tensor_sum);
  CHECK(core.exchange_steps[0].bytes == 2 * 10 * 11);
  CHECK(core.exchange_steps[0].begin == 2);
  CHECK(core.exchange_steps[0].end == 2);
  CHECK(names_of(core.input_gradient) == Names{"selective scan dgrad", "step projection dgrad", "step norm dgrad",
                                               "B norm dgrad", "C norm dgrad", "x projection dgrad",
                                               "channel gradient sum", "convolution dgrad"});
  REQUIRE(core.gradient_exchange_steps.size() == 1);
  CHECK(core.gradient_exchange_steps[0].bytes == 2 * 10 * 11);
  CHECK(core.gradient_exchange_steps[0].begin == 2);
  // 160 elements of channels. The scan reads channels, steps and gates, B and C (10 x 6), 16 x 5 numbers in FP32; it
  // writes outputs before and behind the gate, and two FP32 numbers for each of 16 x 3 elements of states.
  CHECK(bytes(core.forward[6]) == Sizes{2 * 3 * 160 + 2 * 60 + 4 * 80, 2 * 2 * 160 + 4 * 2 * 48});
  CHECK(bytes(core.input_gradient[0]) == Sizes{2 * 5 * 160 + 2 * 60 + 4 * 80 + 4 * 2 * 48, 2 * 3 * 160 + 4 * 60});
  // Kept: what the in-projection made; channels, what they share before its norms and behind them, steps, outputs.
  CHECK(core.kept_input == 2 * 10 * 32);
  CHECK(core.kept_inside == 2 * (160 + 10 * 11 + 10 * 5 + 2 * 160) + 2 * 60 + 4 * 2 * 48);
  CHECK(transformer_layer(model_from(mamba_model), mixer_shape(1)).attention_core.exchange_steps.empty());
}

TEST_CASE("a Mamba layer without norms makes channels and steps again") {
  std::string text = mamba_model;
  text.replace(text.find("state_norms = true"), 18, "state_norms = false");
  const Model model = model_from(text);
  const OperatorSet core = transformer_layer(model, mixer_shape(2)).attention_core;
  CHECK(names_of(core.forward) == Names{"convolution", "x projection", "step projection", "selective scan"});
  CHECK(names_of(core.input_gradient) == Names{"convolution again", "step projection again", "selective scan dgrad",
                                               "step projection dgrad", "x projection dgrad", "channel gradient sum",
                                               "convolution dgrad"});
  CHECK(core.exchange_steps.at(0).begin == 2);
  CHECK(core.gradient_exchange_steps.at(0).begin == 4);
  // What steps are made from; outputs before the gate, B and C, and the scan's numbers in FP32.
  CHECK(core.kept_inside == 2 * (10 * 5 + 160) + 2 * 60 + 4 * 2 * 48);
  CHECK(layer_parameters(model, mixer_shape(2)).replicated == 16);
}

TEST_CASE("a generated token of a Mamba layer: one update of all states, with its sum over the tensor ranks") {
  const Model model = model_from(mamba_model);
  const OperatorSet core = transformer_layer(model, mixer_shape(2, Phase::generation)).attention_core;
  CHECK(names_of(core.forward) ==
        Names{"convolution", "x projection", "step norm", "B norm", "C norm", "step projection", "state update"});
  CHECK(core.exchange_steps.at(0).bytes == 2 * 3 * 11);
  // 3 sequences: channels, steps and gates of 16, B and C; states of 16 x 3.
  CHECK(bytes(core.forward[6]) == Sizes{2 * 3 * (48 + 6) + 2 * 3 * 48, 2 * 3 * 16 + 2 * 3 * 48});
  CHECK(kv_cache_bytes(model, mixer_shape(2, Phase::generation)) == 3 * 2 * (16 * 4 + 48));
}

TEST_CASE("FLOP of a Mamba layer by its dimensions") {
  const ForwardFlops flops = forward_flops(model_from(mamba_model), 10, 10, Phase::training);
  CHECK(flops.attention_core == 10 * 4 * 32 * 3);
  CHECK(flops.layers == 10 * 2 * (1024 + 352 + 160 + 512) + flops.attention_core);
}

TEST_CASE("Mamba by its configuration") {
  const std::string start = R"({"model_type": "mamba", "hidden_size": 2560, "num_hidden_layers": 64,
    "vocab_size": 50280, "residual_in_fp32": false)";
  const Model model = model_from_config(start + ", \"time_step_rank\": 160}");
  // Hugging Face state-spaces/mamba-2.8b-hf. 5,120 channels: in-projection 2560 x 10240, convolution 5120 x 5, 5120 x
  // 192 and 160 x 5120, 18 numbers a channel, out-projection 5120 x 2560, norm 2560, 64 times; the table and a norm.
  CHECK(parameter_count(model) ==
        64 * (26214400LL + 25600 + 983040 + 819200 + 92160 + 13107200 + 2560) + 50280LL * 2560 + 2560);
  CHECK(parameter_count(model) == 2'768'345'600);
  CHECK(read_config(start + ", \"use_bias\": true}").errors ==
        Names{"config.json:2:53: \"use_bias\": true changes the computation and is not modelled, allowed: false"});
}

TEST_CASE("Jamba: Mamba with attention in every eighth layer, and experts in every second one") {
  const Model model = model_named("jamba-v0.1.json");
  CHECK(model.layer_sequence == Names{"mamba-dense", "mamba-moe", "mamba-dense", "mamba-moe", "attention-dense",
                                      "mamba-moe", "mamba-dense", "mamba-moe"});
  CHECK(layer_kind(model, kind_of(model, 1)).mixer == Mixer::mamba);
  CHECK(layer_kind(model, kind_of(model, 1)).heads == 8192);
  CHECK(is_moe(layer_kind(model, kind_of(model, 1))));
  CHECK(has_attention(layer_kind(model, kind_of(model, 12))));
  // 52B, 12B of them for a token (Lieber et al. 2024, abstract).
  CHECK((active_parameter_count(model) + 500'000'000) / 1'000'000'000 == 12);
  const std::string start = R"({"model_type": "jamba", "hidden_size": 64, "num_hidden_layers": 2,
    "num_attention_heads": 4, "intermediate_size": 96, "vocab_size": 100)";
  CHECK(
      read_config(start + ", \"mamba_proj_bias\": true}").errors ==
      Names{"config.json:2:75: \"mamba_proj_bias\": true changes the computation and is not modelled, allowed: false"});
  CHECK(
      read_config(start + ", \"attn_layer_offset\": 8}").errors ==
      Names{
          "config.json:2:75: \"attn_layer_offset\": 8 changes the computation and is not modelled, allowed: less than "
          "\"attn_layer_period\""});
  // One expert is none; a step of a channel comes from ceil(h / 16) elements unless the file says so.
  const Model dense = model_from_config(start + ", \"num_experts\": 1}");
  CHECK_FALSE(has_experts(dense));
  CHECK(dense.mixer == Mixer::mamba);
  CHECK(dense.step_rank == 4);
}

}  // namespace mamba_layers
}  // namespace
}  // namespace tessera::workload
