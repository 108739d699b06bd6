#include "tessera/program/measurements.hpp"

#include <algorithm>
#include <charconv>
#include <string_view>

#include "tessera/base/hash.hpp"

namespace tessera::program {
namespace {

constexpr std::string_view title = "# What searches measured, in ps. Hash of the lines below: ";

}  // namespace

Time Measurements::time(const std::string& what, const std::function<Time()>& measure) {
  const auto known = known_.find(what);
  if (known != known_.end()) return known->second;
  is_new_ = true;
  return known_[what] = measure();
}

std::string Measurements::text() const {
  std::string lines;
  for (const auto& [what, time] : known_) lines += std::to_string(time) + " " + what + "\n";
  return std::string(title) + std::to_string(hash_of(lines)) + "\n" + lines;
}

bool Measurements::add(const std::string& text) {
  const std::size_t head = text.find('\n');
  if (head == std::string::npos) return false;
  std::string_view lines = std::string_view(text).substr(head + 1);
  if (std::string_view(text).substr(0, head) != std::string(title) + std::to_string(hash_of(lines))) return false;
  std::map<std::string, Time> read;
  while (!lines.empty()) {
    const std::string_view line = lines.substr(0, lines.find('\n'));
    lines.remove_prefix(std::min(line.size() + 1, lines.size()));
    Time time = 0;
    const std::size_t space = std::min(line.find(' '), line.size());
    const auto [end, error] = std::from_chars(line.data(), line.data() + space, time);
    if (error != std::errc{} || end != line.data() + space || space == line.size() || time < 0) return false;
    read.emplace(line.substr(space + 1), time);
  }
  known_.merge(read);
  return true;
}

}  // namespace tessera::program
