#include "schedule_checks.hpp"

#include <fmt/format.h>

#include "recomputation.hpp"

namespace tessera::strategy::megatron {
namespace {

class ScheduleChecker {
 public:
  ScheduleChecker(const config::Table& table, const Cut& cut, config::Diagnostics& diagnostics)
      : table_(table), cut_(cut), options_(cut.options), diagnostics_(diagnostics) {}

  void check_split() const {
    const char* what = "puts weight gradients apart";
    if (options_.streams_weights())
      refuse("weight_streaming", what, "here micro-batches pass layer by layer", "\"off\"");
    else if (options_.shards_gradients())
      refuse("data_sharding", what, "here they leave behind a layer's backward pass", "\"auto\"");
    if (!options_.loans.empty()) refuse("loans", what, "what is lent is back for one backward pass", "no loans");
    if (cut_.uses_kernels())
      refuse("sublayers", what, "kernels of input gradients are followed by them", "\"operators\"");
  }

  void check_combined() const {
    const char* what = "runs layers forward beside layers backward";
    if (!has_experts(*cut_.model))
      return refuse("schedule", what, "model " + cut_.model->name + " has no experts whose tokens travel",
                    "another one");
    if (options_.expert_parallel == 1)
      refuse("expert_parallel", what, "with all experts on each device no tokens travel", "more than 1");
    if (options_.streams_weights())
      refuse("weight_streaming", what, "here micro-batches pass layer by layer", "\"off\"");
    else if (options_.shards_gradients())
      refuse("data_sharding", what, "here each waits for what it is gathered for", "\"auto\"");
    if (!options_.loans.empty()) refuse("loans", what, "what is lent is back for one backward pass", "no loans");
    if (cut_.uses_kernels()) refuse("sublayers", what, "kernels are of one pass", "\"operators\"");
    if (cut_.uses_user_buffers()) refuse("user_buffers", what, "their chunks come pass by pass", "false");
    if (options_.overlap_shared_experts)
      refuse("overlap_shared_experts", what, "all-to-alls are beside these already", "false");
    if (cut_.predicts())
      refuse("schedule", what, "modules that predict further ahead are behind the last one", "another one");
    for (std::size_t stage = 0; stage < cut_.recomputed.size(); ++stage) check_recomputed(stage);
  }

  void check_both_ways() const {
    const char* what = "has forward beside backward passes";
    if (cut_.uses_user_buffers()) refuse("user_buffers", what, "their chunks have one pair of streams", "false");
    if (cut_.shares_sequences()) refuse("context_parallel", what, "context ranks have one ring for them", "1");
    if (cut_.is_two_dimensional()) refuse("tensor_rows", what, "rows and columns have groups for one of them", "1");
    const char* ways = "sends both ways along the stages";
    if (options_.unused_first) refuse("routes", ways, "ways are chosen for one", "\"machine\"");
    if (!options_.ways.empty()) refuse("ways", ways, "they are given for one", "no ways");
    if (options_.spread_layers && options_.stage_layers.empty() &&
        cut_.model->layers % (options_.pipeline * options_.interleave) != 0)
      refuse("uneven_layers", "has two pieces of the model on each stage", "layers are spread over single ones",
             "stage_layers");
  }

 private:
  void check_recomputed(std::size_t stage) const {
    const std::optional<std::size_t> place = first_repeated_of_mlp(cut_.recomputed[stage]);
    if (!place) return;
    const bool is_own = stage < options_.stages.size() && !options_.stages[stage].recomputation.empty();
    refuse(is_own                                 ? "stages"
           : options_.recomputed_sections.empty() ? "recomputation"
                                                  : "recomputed_sections",
           "has experts of one micro-batch between another one's",
           std::string(workload::section_names.at(*place)) + " would run again amid them", "sections before mlp_norm");
  }

  void refuse(const char* key, const char* what, const std::string& why, const char* allowed) const {
    diagnostics_.error(where_of(table_, key), fmt::format("{}: schedule \"{}\" {}, and {}, allowed: {}", key,
                                                          options_.schedule, what, why, allowed));
  }

  const config::Table& table_;
  const Cut& cut_;
  const Options& options_;
  config::Diagnostics& diagnostics_;
};

}  // namespace

void check_schedule(const config::Table& table, const Cut& cut, config::Diagnostics& diagnostics) {
  const ScheduleChecker checker(table, cut, diagnostics);
  if (cut.splits_backward()) checker.check_split();
  if (cut.goes_both_ways()) checker.check_both_ways();
}

void check_combined(const config::Table& table, const Cut& cut, config::Diagnostics& diagnostics) {
  if (cut.combines_passes()) ScheduleChecker(table, cut, diagnostics).check_combined();
}

}  // namespace tessera::strategy::megatron
