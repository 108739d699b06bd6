#include "listed.hpp"

#include <algorithm>

namespace tessera::results {
namespace {

std::vector<std::string> parts_of(const std::string& name) {
  std::vector<std::string> parts;
  for (std::size_t begin = 0; begin <= name.size();) {
    const std::size_t end = std::min(name.find(", ", begin), name.size());
    parts.push_back(name.substr(begin, end - begin));
    begin = end + 2;
  }
  return parts;
}

void append(std::string& text, const std::string& part) { text += (text.empty() ? "" : ", ") + part; }

}  // namespace

ListedNames listed_names(const std::vector<std::string>& names) {
  const bool is_whole =
      std::ranges::any_of(names, [](const auto& name) { return name.find('{') != std::string::npos; });
  if (names.size() < 2 || is_whole || std::ranges::all_of(names, [&](const auto& name) { return name == names[0]; }))
    return {"", names};
  std::vector<std::vector<std::string>> all;
  for (const std::string& name : names) all.push_back(parts_of(name));
  const auto is_common = [&](const std::string& part) {
    return std::ranges::all_of(all, [&](const auto& one) { return std::ranges::find(one, part) != one.end(); });
  };
  ListedNames found;
  for (const std::string& part : all.front())
    if (is_common(part)) append(found.common, part);
  for (const auto& parts : all) {
    std::string own;
    for (const std::string& part : parts)
      if (!is_common(part)) append(own, part);
    if (own.empty()) return {"", names};  // nothing would be left to call it by
    found.own.push_back(own);
  }
  return found;
}

}  // namespace tessera::results
