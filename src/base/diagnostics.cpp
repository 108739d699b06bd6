// Collected problems of the inputs, and the guesses that go with them.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>

#include "tessera/base/config.hpp"
#include "tessera/base/error.hpp"
#include "tessera/base/foreign_words.hpp"
#include "tessera/base/text.hpp"

namespace tessera::config {

std::string to_string(const Location& where) {
  if (where.line == 0) return where.file;
  return where.file + ':' + std::to_string(where.line) + ':' + std::to_string(where.column);
}

std::size_t Diagnostics::rank_of(const std::string& file) {
  const auto found = std::find(files_.begin(), files_.end(), file);
  if (found != files_.end()) return static_cast<std::size_t>(found - files_.begin());
  files_.push_back(file);
  return files_.size() - 1;
}

void Diagnostics::Lines::add(std::size_t file, const Location& where, const std::string& what) {
  insert({file, where.line, where.column}, one_line(where.file.empty() ? what : to_string(where) + ": " + what));
}

void Diagnostics::Lines::insert(const Position& position, std::string line) {
  if (std::find(lines.begin(), lines.end(), line) != lines.end()) return;
  if (lines.size() == most_lines) {
    ++left_out;
    return;
  }
  const auto after = std::upper_bound(positions.begin(), positions.end(), position);
  lines.insert(lines.begin() + (after - positions.begin()), std::move(line));
  positions.insert(after, position);
}

void Diagnostics::add(const Diagnostics& other) {
  const auto take = [&](Lines& mine, const Lines& theirs) {
    for (std::size_t i = 0; i < theirs.lines.size(); ++i) {
      Position position = theirs.positions[i];
      position.file = rank_of(other.files_[position.file]);
      mine.insert(position, theirs.lines[i]);
    }
    mine.left_out += theirs.left_out;
  };
  take(errors_, other.errors_);
  take(warnings_, other.warnings_);
}

void Diagnostics::throw_if_errors() const {
  if (ok()) return;
  std::string text;
  for (const std::string& line : errors()) text += (text.empty() ? "" : "\n") + line;
  if (errors_.left_out > 0) text += "\nand " + std::to_string(errors_.left_out) + " more";
  throw InputError(text);
}

namespace {

std::string lower_case(std::string_view word) {
  std::string result(word);
  for (char& c : result) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return result;
}

/// Optimal string alignment distance: insertions, deletions, substitutions and swaps of neighbours.
std::size_t distance(const std::string& a, const std::string& b) {
  std::vector<std::vector<std::size_t>> d(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) d[i][0] = i;
  for (std::size_t j = 0; j <= b.size(); ++j) d[0][j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t substitution = d[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      d[i][j] = std::min({d[i - 1][j] + 1, d[i][j - 1] + 1, substitution});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        d[i][j] = std::min(d[i][j], d[i - 2][j - 2] + 1);
    }
  }
  return d[a.size()][b.size()];
}

}  // namespace

std::string did_you_mean(std::string_view word, const std::vector<std::string>& choices) {
  const std::string wanted = lower_case(word);
  std::string best;
  std::size_t best_distance = 0;
  for (const std::string& choice : choices) {
    const std::string candidate = lower_case(choice);
    const bool prefix = wanted.size() >= 3 && candidate.starts_with(wanted);
    // One slip in a short word, one in three letters of a longer one; a word of two letters has to match but for case.
    const std::size_t allowed = std::max(wanted.size(), candidate.size()) / 3;
    // Words whose lengths alone differ by more are not compared: a megabyte of nonsense is no typing error.
    const std::size_t shorter = std::min(wanted.size(), candidate.size());
    if (!prefix && std::max(wanted.size(), candidate.size()) - shorter > allowed) continue;
    const std::size_t d = distance(wanted, candidate);
    if (d > allowed && !prefix) continue;
    if (best.empty() || d < best_distance) {
      best = choice;
      best_distance = d;
    }
  }
  return best;
}

std::string suggestion(std::string_view word, const std::vector<std::string>& choices) {
  const std::string near = did_you_mean(word, choices);
  return near.empty() ? "" : " (did you mean \"" + near + "\"?)";
}

std::string unknown(std::string_view what, std::string_view word, const std::vector<std::string>& choices) {
  return fmt::format("unknown {} \"{}\"{}, allowed: {}", what, word, hint(word, choices), listed(choices));
}

std::string listed(const std::vector<std::string>& names) { return fmt::format("{}", fmt::join(names, ", ")); }

}  // namespace tessera::config
