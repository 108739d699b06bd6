#include "flags.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>

#include "tessera/base/foreign_words.hpp"

namespace tessera::experiment::importing {
namespace {

/// Of texts separated by blanks, the first for which `take` says true.
template <class Take>
std::optional<std::string_view> first_word(std::string_view texts, Take take) {
  while (!texts.empty()) {
    const std::size_t end = std::min(texts.find(' '), texts.size());
    if (take(texts.substr(0, end))) return texts.substr(0, end);
    texts.remove_prefix(std::min(end + 1, texts.size()));
  }
  return std::nullopt;
}

const FlagRow* row_of(std::string_view name) {
  const auto has_name = [&](const FlagRow& row) {
    return first_word(row.flags,
                      [&](std::string_view one) {
                        return one.ends_with('*') ? name.starts_with(one.substr(0, one.size() - 1)) : name == one;
                      })
        .has_value();
  };
  const auto found = std::ranges::find_if(flag_rows(), has_name);
  return found == flag_rows().end() ? nullptr : &*found;
}

bool says_no(const std::string& value) {
  constexpr std::array words{"false", "no", "none", "null", "off", "0", "0.0", "[]"};
  return std::ranges::find(words, lower(value)) != words.end();
}

/// Of what is cut or repeated one time nothing is cut or repeated.
bool is_idle(const Flag& flag) {
  const bool counts = flag.name.ends_with("_size") || flag.name.ends_with("_degree");
  return says_no(flag.value) || (counts && flag.value == "1");
}

std::optional<std::int64_t> whole_number(const Flag& flag, config::Diagnostics& diagnostics) {
  std::int64_t number = 0;
  // What follows on a launcher's line may be the command that it starts.
  const char* end = flag.value.data() + std::min(flag.value.find(' '), flag.value.size());
  const auto [parsed, problem] = std::from_chars(flag.value.data(), end, number);
  if (problem == std::errc{} && parsed == end && flag.unset.empty()) return number;
  const std::string found = flag.unset.empty()
                                ? flag.value.empty() ? "nothing" : fmt::format("\"{}\"", flag.value)
                                : fmt::format("${}, which is not set (--var {}=N)", flag.unset, flag.unset);
  diagnostics.error(flag.where, fmt::format("{}: expected a whole number, found {}", flag.given, found));
  return std::nullopt;
}

/// "strategy.tensor": a strategy's keys stand in [strategy], whatever its name.
std::string key_in_experiment(std::string_view key) {
  constexpr std::string_view named = "strategy.megatron.";
  return key.starts_with(named) ? "strategy." + std::string(key.substr(named.size())) : std::string(key);
}

/// Of a row without a key: what the word is called here, where it is one key.
std::string key_of(const FlagRow& row, const Flag& flag) {
  if (!row.key.empty()) return key_in_experiment(row.key);
  const config::ForeignWord* word = config::find_foreign_word(flag.name);
  const std::vector<std::string> names = word == nullptr ? std::vector<std::string>{} : config::names_here(*word);
  return names.size() == 1 && names[0].find('.') != std::string::npos ? key_in_experiment(names[0]) : "";
}

/// What became of flags that have no key.
struct Rest {
  std::vector<std::string> nothing, timing, unknown;
};

class Converter {
 public:
  Converter(Draft& draft, config::Diagnostics& diagnostics) : draft_(draft), diagnostics_(diagnostics) {}

  void convert(const Flag& flag) {
    const FlagRow* row = row_of(flag.name);
    if (row == nullptr) return convert_word(flag);
    switch (row->conversion) {
      case Conversion::by_hand:
        return;
      case Conversion::nothing:
        return rest_.nothing.push_back(flag.given);
      case Conversion::timing:
        return leave_out(flag, row->words);
      case Conversion::refused:
        if (!is_idle(flag)) refuse(flag, fmt::format("not modelled: {}", row->words));
        return;
      default:
        return put_value(flag, *row);
    }
  }

  void write_remarks() {
    const auto remark = [&](const char* what, std::vector<std::string>& names) {
      if (names.empty()) return;
      std::ranges::sort(names);
      names.erase(std::unique(names.begin(), names.end()), names.end());
      draft_.remarks.push_back(fmt::format("{}: {}.", what, fmt::join(names, ", ")));
    };
    remark("Left out, it changes when things are done and not what", rest_.timing);
    remark("Not known to tessera import, left out", rest_.unknown);
    remark("Of no consequence here", rest_.nothing);
  }

 private:
  void put_value(const Flag& flag, const FlagRow& row) {
    const std::string key = key_of(row, flag);
    if (key.empty()) {
      if (!is_idle(flag)) refuse(flag, config::foreign_hint(flag.name));
      return;
    }
    switch (row.conversion) {
      case Conversion::whole:
        if (says_no(flag.value)) return;
        if (const auto number = whole_number(flag, diagnostics_)) put(draft_, key, *number, flag.given);
        return;
      case Conversion::on:
        return put(draft_, key, !says_no(flag.value), flag.given);
      case Conversion::off:
        return put(draft_, key, says_no(flag.value), flag.given);
      case Conversion::fixed:
        if (!says_no(flag.value)) put(draft_, key, std::string(row.words), flag.given);
        return;
      default:
        return put_word(flag, row, key);
    }
  }

  void put_word(const Flag& flag, const FlagRow& row, const std::string& key) {
    const std::string given = lower(flag.value);
    const auto found =
        first_word(row.words, [&](std::string_view word) { return word.substr(0, word.find('=')) == given; });
    if (!found && says_no(flag.value)) return;
    if (!found) {
      std::vector<std::string> allowed;
      static_cast<void>(first_word(row.words, [&](std::string_view word) {
        allowed.emplace_back(word.substr(0, word.find('=')));
        return false;
      }));
      return refuse(flag, fmt::format("\"{}\" is not modelled, what is: {}", flag.value, config::listed(allowed)));
    }
    const std::size_t equals = found->find('=');
    if (equals == std::string_view::npos || key == "-") return;
    const std::string_view ours = found->substr(equals + 1);
    if (ours == "true" || ours == "false") return put(draft_, key, ours == "true", flag.given);
    put(draft_, key, std::string(ours), fmt::format("{} {}", flag.given, flag.value));
  }

  /// One that no row has: other tools' words say whether it is modelled.
  void convert_word(const Flag& flag) {
    const config::ForeignWord* word = config::find_foreign_word(flag.name);
    if (word == nullptr || is_idle(flag)) {
      if (!is_idle(flag)) unknown(flag, "not known");
      return;
    }
    if (word->here.empty()) return refuse(flag, config::foreign_hint(flag.name));
    unknown(flag, fmt::format("not read, {}; --set KEY=VALUE gives it", config::foreign_hint(flag.name)));
  }

  void refuse(const Flag& flag, const std::string& why) {
    diagnostics_.error(flag.where, fmt::format("{}: {}; --without {} leaves it out", flag.given, why, flag.given));
  }
  void unknown(const Flag& flag, const std::string& why) {
    diagnostics_.warn(flag.where, fmt::format("{}: {}, left out", flag.given, why));
    rest_.unknown.push_back(flag.given);
  }
  void leave_out(const Flag& flag, std::string_view why) {
    if (is_idle(flag)) return;
    diagnostics_.warn(flag.where, fmt::format("{}: left out, not modelled: {}", flag.given, why));
    rest_.timing.push_back(flag.given);
  }

  Draft& draft_;
  config::Diagnostics& diagnostics_;
  Rest rest_;
};

}  // namespace

std::string lower(std::string_view text) {
  std::string result(text);
  for (char& c : result) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return result;
}

Flag make_flag(std::string_view given, std::string value, config::Location where) {
  std::string name = lower(given.substr(std::min(given.find_first_not_of('-'), given.size())));
  std::ranges::replace(name, '-', '_');
  return {std::move(name), std::string(given), std::move(value), {}, std::move(where)};
}

const Flag* find(const Flags& flags, std::string_view name) {
  const auto found = std::ranges::find(flags.rbegin(), flags.rend(), name, &Flag::name);
  return found == flags.rend() ? nullptr : &*found;
}

const Flag* first_of(const Flags& flags, std::initializer_list<std::string_view> names) {
  for (const std::string_view name : names)
    if (const Flag* flag = find(flags, name)) return flag;
  return nullptr;
}

bool is_on(const Flags& flags, std::string_view name) {
  const Flag* flag = find(flags, name);
  return flag != nullptr && !says_no(flag->value);
}

std::optional<std::int64_t> count_in(const Flags& flags, std::string_view name, config::Diagnostics& diagnostics) {
  const Flag* flag = find(flags, name);
  if (flag == nullptr || says_no(flag->value)) return std::nullopt;
  const std::optional<std::int64_t> number = whole_number(*flag, diagnostics);
  if (!number || *number >= 1) return number;
  diagnostics.error(flag->where, fmt::format("{}: expected at least 1, found {}", flag->given, *number));
  return std::nullopt;
}

Flags without_some(const Flags& flags, const std::vector<std::string>& names, Draft& draft) {
  Flags kept;
  std::vector<std::string> left_out;
  for (const Flag& flag : flags) {
    const auto is_meant = [&](const std::string& name) { return make_flag(name, {}, {}).name == flag.name; };
    if (!std::ranges::any_of(names, is_meant))
      kept.push_back(flag);
    else if (std::ranges::find(left_out, flag.given) == left_out.end())
      left_out.push_back(flag.given);
  }
  if (!left_out.empty())
    draft.remarks.push_back(
        fmt::format("Left out on request, although it changes the computation: {}.", fmt::join(left_out, ", ")));
  return kept;
}

void apply_flags(const Flags& flags, Draft& draft, config::Diagnostics& diagnostics) {
  Converter converter(draft, diagnostics);
  for (const Flag& flag : flags)
    if (find(flags, flag.name) == &flag) converter.convert(flag);
  converter.write_remarks();
}

}  // namespace tessera::experiment::importing
