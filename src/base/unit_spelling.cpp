#include "unit_spelling.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

namespace tessera::config {
namespace {

using Pairs = std::vector<std::pair<std::string_view, std::string_view>>;

/// The ending of the first pair that fits, replaced by the other one.
bool replace_ending(std::string& text, const Pairs& pairs) {
  for (const auto& [ending, with] : pairs) {
    if (!text.ends_with(ending)) continue;
    text.replace(text.size() - ending.size(), ending.size(), with);
    return true;
  }
  return false;
}

std::string lower(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (c != ' ') result += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return result;
}

bool is_upper(char c) { return std::isupper(static_cast<unsigned char>(c)) != 0; }

enum class Counts { bits, bytes, either };

/// What a b in it stands for: in "Kb/s" and "GB/sec" somebody chose its case, in "gb/s" and "GB/S" nobody did.
Counts counted_in(std::string_view unit) {
  const std::string plain = lower(unit);
  if (plain.find("bit") != std::string::npos) return Counts::bits;
  if (plain.find("byte") != std::string::npos) return Counts::bytes;
  const std::size_t b = unit.find_first_of("bB");
  const bool has_small = std::ranges::any_of(unit, [](char c) { return c >= 'a' && c <= 'z'; });
  if (b == std::string_view::npos || !has_small || std::ranges::none_of(unit, is_upper)) return Counts::either;
  return is_upper(unit[b]) ? Counts::bytes : Counts::bits;
}

/// In lower case, with the endings that the lists have.
std::string plain_unit(std::string_view unit) {
  std::string text = lower(unit);
  replace_ending(text, {{"/second", "/s"}, {"/sec", "/s"}, {"bps", "b/s"}, {"bytesps", "b/s"}, {"bitsps", "b/s"}});
  const bool is_rate = text.ends_with("/s");
  if (is_rate) text.resize(text.size() - 2);
  const bool computes = replace_ending(text, {{"flops", "flop"}, {"flop", "flop"}, {"ops", "flop"}, {"op", "flop"}});
  if (!computes)
    replace_ending(text, {{"bytes", "b"},
                          {"byte", "b"},
                          {"bits", "b"},
                          {"bit", "b"},
                          {"minutes", "min"},
                          {"minute", "min"},
                          {"mins", "min"},
                          {"seconds", "s"},
                          {"second", "s"},
                          {"secs", "s"},
                          {"sec", "s"},
                          {"hours", "h"},
                          {"hour", "h"},
                          {"hrs", "h"},
                          {"hr", "h"}});
  return is_rate || computes ? text + "/s" : text;
}

/// Whether they differ by one letter that is changed, left out, put in or swapped with its neighbour.
bool differ_by_one(std::string a, std::string b) {
  if (a.size() > b.size()) std::swap(a, b);
  if (b.size() - a.size() > 1) return false;
  const auto [at, there] = std::mismatch(a.begin(), a.end(), b.begin());
  if (a.size() < b.size()) return std::equal(at, a.end(), there + 1);
  if (at == a.end()) return false;
  if (std::equal(at + 1, a.end(), there + 1)) return true;
  std::iter_swap(at, at + 1);
  return a == b;
}

std::vector<std::string> all_that(const std::vector<std::string>& known, const auto& fits) {
  std::vector<std::string> found;
  for (const std::string& one : known) {
    if (fits(lower(one))) found.push_back(one);
  }
  return found;
}

/// A slip in a longer word, where only one unit is so near.
std::vector<std::string> near(const std::string& plain, const std::vector<std::string>& known) {
  constexpr std::size_t shortest = 5, longest = 20;
  if (plain.size() < shortest || plain.size() > longest) return {};
  std::vector<std::string> found = all_that(known, [&](const std::string& one) { return differ_by_one(plain, one); });
  if (found.size() > 1 && lower(found.front()) != lower(found.back())) found.clear();
  return found;
}

/// "K" and "KB" are 1,000 to some and 1,024 to others, and "G" may be either, too; "Gi" are 1,024.
std::vector<std::string> either_thousand(std::string_view unit, const std::string& plain,
                                         const std::vector<std::string>& known) {
  constexpr std::string_view prefixes = "kmgtp";
  const bool alone = plain.size() == 1 && prefixes.find(plain[0]) != std::string_view::npos;
  const bool binary_alone = plain.size() == 2 && plain[1] == 'i' && prefixes.find(plain[0]) != std::string_view::npos;
  if (!alone && !binary_alone && !unit.starts_with("KB")) return {};
  const std::string decimal = plain.substr(0, 1) + "b" + (plain.ends_with("/s") ? "/s" : "");
  const std::string binary = plain.substr(0, 1) + "i" + decimal.substr(1);
  std::vector<std::string> found =
      all_that(known, [&](const std::string& one) { return (one == decimal && !binary_alone) || one == binary; });
  std::erase_if(found, [](const std::string& one) { return one.find('B') == std::string::npos; });
  return found;
}

}  // namespace

std::string respelled(std::string_view unit) {
  std::string text(unit);
  for (const std::string_view micro : {"\xC2\xB5", "\xCE\xBC"}) {
    if (text.starts_with(micro)) text.replace(0, micro.size(), "u");
  }
  replace_ending(text,
                 {{"bits/s", "b/s"}, {"bit/s", "b/s"}, {"bps", "b/s"}, {"Bps", "B/s"}, {"bits", "b"}, {"bit", "b"}});
  return text;
}

std::string units_meant(std::string_view unit, const std::vector<std::string>& known) {
  const std::string plain = plain_unit(unit);
  const Counts counts = counted_in(unit);
  std::vector<std::string> found = either_thousand(unit, plain, known);
  if (found.empty()) found = all_that(known, [&](const std::string& one) { return one == plain; });
  if (found.empty()) found = near(plain, known);
  if (counts != Counts::either)
    std::erase_if(found, [&](const std::string& one) {
      const bool is_bits = one.find('b') != std::string::npos;
      return one.find_first_of("bB") != std::string::npos && is_bits != (counts == Counts::bits);
    });
  std::string text;
  for (std::size_t i = 0; i < found.size(); ++i) text += (i == 0 ? "\"" : " or \"") + found[i] + "\"";
  return text;
}

}  // namespace tessera::config
