#include "update.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "tessera/base/error.hpp"

namespace tessera::strategy::mcm {
namespace {

constexpr const char* table_name = "learning";

}  // namespace

DataTable learning_table(const std::vector<Update>& updates) {
  const auto all = [&](auto member) { return values_of(updates, member); };
  DataTable table{table_name, "Updates of a policy that learns, in their order.", {}};
  table.integer("step", "1", "number of the update", all(&Update::step))
      .integer("samples", "1", "rollouts in all, up to here", all(&Update::samples))
      .text("subject", "what the rollouts are of, where a policy learns from several graphs", all(&Update::subject))
      .number("reward", "1", "mean over the rollouts; what cannot run counts as 0", all(&Update::reward))
      .number("best_reward", "1", "of the rollouts", all(&Update::best_reward))
      .number("valid", "1", "share of the rollouts that can run", all(&Update::valid))
      .number("entropy", "nat", "of the policy that drew, a decision", all(&Update::entropy))
      .number("value", "1", "what the value function expected", all(&Update::value))
      .number("value_error", "1", "its squared error, mean over the gradient steps", all(&Update::value_error))
      .number("divergence", "nat", "how far the policy went from the one that drew, a decision",
              all(&Update::divergence))
      .number("clipped", "1", "share of decisions whose ratio of probabilities was clipped", all(&Update::clipped))
      .number("norm", "1", "of gradients, before they were shortened", all(&Update::norm));
  return table;
}

std::vector<Update> updates_of(const std::vector<DataTable>& tables) {
  const auto table = std::ranges::find(tables, table_name, &DataTable::name);
  if (table == tables.end())
    throw InputError("the checkpoint does not say how it came about: it has no table learning");
  std::vector<Update> updates(table->rows());
  const auto fill = [&]<class Value>(const char* column, Value Update::*member) {
    const std::vector<Value>& values = table->values<Value>(column);
    for (std::size_t i = 0; i < updates.size(); ++i) updates[i].*member = values[i];
  };
  fill("step", &Update::step);
  fill("samples", &Update::samples);
  fill("subject", &Update::subject);
  fill("reward", &Update::reward);
  fill("best_reward", &Update::best_reward);
  fill("valid", &Update::valid);
  fill("entropy", &Update::entropy);
  fill("value", &Update::value);
  fill("value_error", &Update::value_error);
  fill("divergence", &Update::divergence);
  fill("clipped", &Update::clipped);
  fill("norm", &Update::norm);
  return updates;
}

std::string progress_text(const Update& last) {
  return fmt::format("{} samples, {}: reward {:.3f}, {:.0f} % valid, entropy {:.2f}", last.samples, last.subject,
                     last.reward, 100 * last.valid, last.entropy);
}

}  // namespace tessera::strategy::mcm
