#include "tessera/strategy/watos/watos.hpp"

#include "options.hpp"
#include "search.hpp"
#include "tables.hpp"

namespace tessera::strategy::watos {

StrategyKind kind(const StrategyKind& cut) {
  const auto schema = std::make_shared<const config::Schema<Options>>(options_schema(cut));
  StrategyKind watos;
  watos.name = "watos";
  watos.help = schema->help();
  watos.workload_keys = cut.workload_keys;
  watos.schema = [schema]() -> const config::SchemaBase& { return *schema; };
  watos.inner_schemas = [] { return std::vector<const config::SchemaBase*>{&search_schema()}; };
  watos.check = [schema, cut](const config::Table& table, const Job& job, config::Diagnostics& diagnostics) {
    static_cast<void>(schema->read(table, diagnostics));
    if (is_closed(table)) return cut.check(*without_search(table), job, diagnostics);
    return std::string("tensor, pipeline, data, stages (search watos)");
  };
  watos.search = [schema, cut](const config::Table& table, const Job& job) {
    if (is_closed(table)) return Searched();
    config::Diagnostics checked;
    const Options options = schema->read(table, checked);
    const Health health = probed(job);
    return search({cut, table, options, job, health});
  };
  watos.program = [cut](const config::Table& table, const Job& job) { return cut.program(*without_search(table), job); };
  return watos;
}

}  // namespace tessera::strategy::watos
