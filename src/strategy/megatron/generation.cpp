// Generation: every token of a sequence passes through all stages, and the next one starts when it is known. The
// micro-batches of a replica take turns, so with enough of them all stages are busy.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <limits>
#include <set>

#include "stage_program.hpp"
#include "tessera/base/error.hpp"

namespace tessera::strategy::megatron {
namespace {

/// So small that pieces have many of them: none begins with one, and all have the mean of the keys in a chunk.
bool is_tiny(const Cut& cut, std::int64_t chunk) { return cut.workload->steps() / chunk > 1000; }

/// Where the number of keys that a layer sees goes another way: the first token of a chunk of attention, and the one
/// with which a window is full. Other tokens see one more than the one before, or as many.
void add_sight_bounds(const Cut& cut, std::set<std::int64_t>& bounds) {
  const std::int64_t prompt = cut.workload->sequence, steps = cut.workload->steps();
  for (std::uint32_t kind = 0; kind < layer_kinds(*cut.model); ++kind) {
    const std::int64_t full = cut.kind(kind).sliding_window - prompt;
    if (full > 0 && full < steps) bounds.insert(full);
    const std::int64_t chunk = cut.kind(kind).attention_chunk;
    if (chunk == 0 || is_tiny(cut, chunk)) continue;
    for (std::int64_t at = chunk - prompt % chunk; at < steps; at += chunk) bounds.insert(at);
  }
}

/// The nearest number of keys at which a tiny chunk is half full.
std::int64_t with_half_chunk(const Cut& cut, std::int64_t keys) {
  for (std::uint32_t kind = 0; kind < layer_kinds(*cut.model); ++kind) {
    const std::int64_t chunk = cut.kind(kind).attention_chunk;
    if (chunk > 0 && is_tiny(cut, chunk)) return (keys - 1) / chunk * chunk + (chunk + 1) / 2;
  }
  return keys;
}

/// One micro-batch's token on one stage. The first stage embeds the token that the last one chose; in the first round
/// it is at hand, where no pass over prompts has made it, and the choice of the last round stays where it was made.
class StepWriter {
 public:
  StepWriter(program::Program& program, const Cut& cut, std::uint32_t stage)
      : program_(program), cut_(cut), first_(stage == 0), last_(stage + 1 == cut.options.pipeline) {}

  void write(Writer& writer, program::BlockId step, std::int64_t times, bool receive_token, bool send_token) {
    if (times == 0) return;
    if (times > std::numeric_limits<std::uint32_t>::max())
      throw KeyError("workload.generated",
                     fmt::format("{} rounds, one for each micro-batch and token, allowed: at most "
                                 "2^32 - 1; larger micro-batches make fewer",
                                 times));
    Writer body(program_, cut_, "generation round");
    auto& builder = body.builder();
    const Bytes tokens = token_bytes(cut_);
    const Bytes bytes{cut_.part_bytes()};
    const bool pipeline = cut_.options.pipeline > 1;
    builder.label("pipeline exchange").activity(Activity::pipeline_communication);
    if (pipeline && first_ && receive_token) builder.receive(previous_stage, tokens, tokens_channel);
    if (pipeline && !first_) receive_activation(body, bytes);
    builder.call(step);
    builder.label("pipeline exchange").activity(Activity::pipeline_communication);
    if (pipeline && !last_) builder.send(next_stage, bytes, activations_channel).wait_sends();
    if (pipeline && last_ && send_token) builder.send(next_stage, tokens, tokens_channel).wait_sends();
    writer.builder().call(builder.done(), static_cast<std::uint32_t>(times));
  }

 private:
  void receive_activation(Writer& body, Bytes bytes) {
    body.builder().receive(previous_stage, bytes, activations_channel);
    if (!cut_.gathers_arrivals()) return;
    body.collective(CollectiveKind::all_gather, tensor_group, cut_.activation_bytes(), cut_.element(),
                    Activity::pipeline_communication, "pipeline all-gather");
  }

  program::Program& program_;
  const Cut& cut_;
  bool first_, last_;
};

}  // namespace

Bytes token_bytes(const Cut& cut) { return Bytes{8 * cut.options.micro_batch}; }  // 64-bit indexes

// Keys grow by one a token. The work of a token is linear in them, so equal pieces with their mean number of keys take
// the same time in sum; 16 pieces keep the program small and the memory traffic within 1/32 of its growth at any time.
std::vector<Segment> generation_segments(const Cut& cut) {
  const std::int64_t tokens = cut.workload->steps(), pieces = std::min<std::int64_t>(16, tokens);
  std::set<std::int64_t> bounds;
  for (std::int64_t i = 0; i <= pieces; ++i) bounds.insert(tokens * i / pieces);
  add_sight_bounds(cut, bounds);
  std::vector<Segment> result;
  for (auto begin = bounds.begin(), end = std::next(begin); end != bounds.end(); begin = end++) {
    // Token n of the segment sees the prompt, all tokens before and itself.
    result.push_back({*end - *begin, with_half_chunk(cut, cut.workload->sequence + (*begin + *end + 1) / 2)});
  }
  return result;
}

void write_generation(program::Program& program, Writer& writer, StageBlocks& blocks, std::uint32_t stage,
                      std::uint32_t expert_rank) {
  const Cut& cut = blocks.cut();
  const std::vector<Segment> parts = generation_segments(cut);
  StepWriter step(program, cut, stage);
  const bool from_prompt = cut.workload->phase == workload::Phase::prompt_and_generation;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const program::BlockId pass = blocks.generation_step(stage, expert_rank, parts[i].keys);
    const bool opening = i == 0;
    const bool closing = i + 1 == parts.size();
    const std::int64_t batches = cut.micro_batches;
    const std::int64_t rounds = parts[i].tokens;
    if (opening && closing && rounds == 1) {
      step.write(writer, pass, batches, from_prompt, false);
      continue;
    }
    if (opening) step.write(writer, pass, batches, from_prompt, true);
    step.write(writer, pass, (rounds - (opening ? 1 : 0) - (closing ? 1 : 0)) * batches, true, true);
    if (closing) step.write(writer, pass, batches, true, false);
  }
}

}  // namespace tessera::strategy::megatron
