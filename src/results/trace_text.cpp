#include "trace_text.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

namespace tessera::results {

std::string json_text(const std::string& text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::vector<std::string> names(const h5::Reader& file, const std::string& table) {
  const h5::Rows rows = file.read(table);
  const std::size_t name = rows.column("name");
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < rows.size(); ++i) texts.push_back(rows.text(i, name));
  return texts;
}

const std::string& name_of(const h5::Rows& rows, std::int64_t index, const std::vector<std::string>& names) {
  if (index < 0 || static_cast<std::size_t>(index) >= names.size()) {
    rows.damaged("it gives the name " + std::to_string(index) + ", of which there are " + std::to_string(names.size()));
  }
  return names[static_cast<std::size_t>(index)];
}

std::string microseconds(Time time) { return fmt::format("{}.{:06}", time / microsecond, time % microsecond); }

}  // namespace tessera::results
