#include "tessera/strategy/watos/watos.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "../place_of.hpp"
#include "laid_out.hpp"
#include "options.hpp"
#include "search.hpp"
#include "tables.hpp"

namespace tessera::strategy::watos {
namespace {

/// Keys of the other strategy that the search finds, and their value where they say nothing.
struct FoundKey {
  const char* name;
  const char* idle;
};
constexpr std::array found_keys{FoundKey{"recomputed_layers", ""},
                                FoundKey{"recomputation_method", "block"},
                                FoundKey{"stages", ""},
                                FoundKey{"loans", ""},
                                FoundKey{"placement", ""},
                                FoundKey{"stage_layers", ""},
                                FoundKey{"routes", "machine"},
                                FoundKey{"ways", ""},
                                FoundKey{"schedule", "1f1b"}};

void refuse_found_keys(const config::Table& table, config::Diagnostics& diagnostics) {
  for (const FoundKey& key : found_keys) {
    const config::Value* value = table.find(key.name);
    if (value == nullptr) continue;
    const std::string* text = value->string();
    const bool is_idle = text != nullptr && (*text == key.idle || *text == "auto");
    if (!is_idle)
      diagnostics.error(value->where(),
                        fmt::format("{}: the search finds it, allowed: nothing; strategy megatron takes "
                                    "it as it stands",
                                    key.name));
  }
}

/// Of the keys that strategy megatron searches, those that this search has no part in: it would take their defaults.
void refuse_open_keys(const StrategyKind& cut, const config::Table& table, config::Diagnostics& diagnostics) {
  for (const config::OpenKey& open : cut.schema().open_keys(table)) {
    if (open.key == "tensor" || open.key == "pipeline" || open.key == "data") continue;
    diagnostics.error(open.where,
                      fmt::format("\"{}\" is open, and of such keys strategy watos finds tensor, pipeline and "
                                  "data alone, allowed: one value; strategy megatron searches it",
                                  open.key));
  }
}

/// Predictions know no exchanges of context ranks.
void refuse_context(const config::Table& table, config::Diagnostics& diagnostics) {
  const config::Value* value = table.find("context_parallel");
  const auto* ranks = value == nullptr ? nullptr : std::get_if<std::int64_t>(&value->content());
  if (value != nullptr && (ranks == nullptr || *ranks != 1))
    diagnostics.error(
        value->where(),
        "context_parallel: the search of name = \"watos\" knows no sequences on several ranks, allowed: 1; "
        "strategy megatron takes it as it stands");
}

/// A cut in two dimensions cuts tokens, whatever is given.
void refuse_rows(const config::Table& table, config::Diagnostics& diagnostics) {
  const config::Value *rows = table.find("tensor_rows"), *cut_tokens = table.find("sequence_parallel");
  const auto* count = rows == nullptr ? nullptr : std::get_if<std::int64_t>(&rows->content());
  const auto* is_cut = cut_tokens == nullptr ? nullptr : std::get_if<bool>(&cut_tokens->content());
  if (count != nullptr && *count > 1 && is_cut != nullptr && !*is_cut)
    diagnostics.error(rows->where(),
                      fmt::format("tensor_rows = {} cuts tokens as well, allowed: sequence_parallel = true", *count));
}

/// Of a table whose plan is still to be found.
void check_open(const StrategyKind& cut, const config::Table& table, const Job& job, config::Diagnostics& diagnostics) {
  cut.schema().check(*without_search(table), diagnostics);
  refuse_found_keys(table, diagnostics);
  if (job.machine.grid.columns == 0)
    diagnostics.error(place_of(table, "name"),
                      fmt::format("strategy watos places stages on a mesh or torus, and machine {} is none: strategy "
                                  "megatron runs on it",
                                  job.machine.name));
  refuse_context(table, diagnostics);
  refuse_rows(table, diagnostics);
  if (job.model->prediction_depth > 0)
    diagnostics.error(
        place_of(table, "name"),
        fmt::format("strategy watos knows no modules that predict further ahead (prediction_depth), which "
                    "model {} has: strategy megatron runs them",
                    job.model->name));
  if (has_vision(*job.model))
    diagnostics.error(
        place_of(table, "name"),
        fmt::format("strategy watos knows no vision tower, which model {} has: strategy megatron runs it, "
                    "and model.vision.images = 0 leaves it out",
                    job.model->name));
  if (job.workload.phase != workload::Phase::training)
    diagnostics.error(place_of(table, "name"), "strategy watos plans training, allowed: workload.phase = \"training\"");
}

std::string check(const StrategyKind& cut, const config::Schema<Options>& schema, const config::Table& table,
                  const Job& job, config::Diagnostics& diagnostics) {
  const std::size_t errors = diagnostics.errors().size();
  const SearchOptions search = schema.read(table, diagnostics).search;
  if (!search.rivals && search.take != Take::fastest)
    diagnostics.error(place_of(table, "search"),
                      "search.rivals: false leaves out the plans of Megatron that search.take takes, allowed: true");
  refuse_open_keys(cut, table, diagnostics);
  if (diagnostics.errors().size() > errors) return {};
  if (is_closed(table)) return cut.check(*without_search(table), job, diagnostics);
  check_open(cut, table, job, diagnostics);
  return "tensor, pipeline, data, stages and loans (search watos)";
}

}  // namespace

StrategyKind kind(const StrategyKind& cut) {
  const auto schema = std::make_shared<const config::Schema<Options>>(options_schema(cut));
  StrategyKind watos;
  watos.name = "watos";
  watos.help = schema->help();
  watos.workload_keys = cut.workload_keys;
  watos.schema = [schema]() -> const config::SchemaBase& { return *schema; };
  watos.inner_schemas = [] { return std::vector<const config::SchemaBase*>{&search_schema()}; };
  watos.check = [schema, cut](const config::Table& table, const Job& job, config::Diagnostics& diagnostics) {
    return check(cut, *schema, table, job, diagnostics);
  };
  watos.search = [schema, cut](const config::Table& table, const Job& job) {
    if (is_closed(table)) return Searched();
    config::Diagnostics checked;
    const Options options = schema->read(table, checked);
    const Health health = probed(job);
    const Question question{cut, table, options, job, health};
    const Attachment* healthy = job.file("healthy_plan");
    return healthy == nullptr ? search(question) : laid_out(question, *healthy);
  };
  watos.program = [cut](const config::Table& table, const Job& job) {
    return cut.program(*without_search(table), job);
  };
  return watos;
}

}  // namespace tessera::strategy::watos
