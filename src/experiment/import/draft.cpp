#include "draft.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "tessera/base/text.hpp"

namespace tessera::experiment::importing {
namespace {

constexpr std::array sections{"machine", "model",       "workload", "strategy",
                              "cost",    "collectives", "record",   "simulation"};
constexpr std::size_t note_column = 40, comment_width = 118;

/// `key = value`, as TOML writes it.
std::string line_of(const std::string& key, const DraftKey& entry) {
  const std::string* words = std::get_if<std::string>(&entry.value);
  config::Table one;
  one.set("key", {entry.value, {}});
  std::string text = words != nullptr ? "key = " + quoted(*words) : config::to_toml(one);
  while (text.ends_with('\n')) text.pop_back();
  text = key + text.substr(3);
  if (entry.note.empty()) return text + '\n';
  // What a file of somebody else's says must not end the comment.
  return fmt::format("{:<{}}# {}\n", text, std::max(note_column, text.size() + 1), one_line(entry.note));
}

/// Lines of at most comment_width characters, each behind "# ".
std::string comment(std::string_view text) {
  std::string lines, line = "#";
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    if (line.size() > 1 && line.size() + 1 + end > comment_width) {
      lines += line + '\n';
      line = "#";
    }
    line.append(" ").append(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines + line + '\n';
}

std::string lists_of(const Draft& draft, std::string_view section) {
  std::string text;
  for (const DraftList& list : draft.lists) {
    if (list.section != section) continue;
    text += list.key + " = [\n";
    for (const std::string& item : list.items) text += "  { " + item + " },\n";
    text += "]\n";
  }
  return text;
}

}  // namespace

void put(Draft& draft, std::string_view key, config::Value::Content value, std::string note) {
  const auto found = std::ranges::find(draft.keys, key, &DraftKey::key);
  if (found == draft.keys.end())
    draft.keys.push_back({std::string(key), std::move(value), std::move(note)});
  else
    *found = {found->key, std::move(value), std::move(note)};
}

const DraftKey* find(const Draft& draft, std::string_view key) {
  const auto found = std::ranges::find(draft.keys, key, &DraftKey::key);
  return found == draft.keys.end() ? nullptr : &*found;
}

std::int64_t whole_in(const Draft& draft, std::string_view key, std::int64_t otherwise) {
  const DraftKey* found = find(draft, key);
  const auto* number = found == nullptr ? nullptr : std::get_if<std::int64_t>(&found->value);
  return number == nullptr ? otherwise : *number;
}

std::string quoted(const std::string& text) {
  config::Table one;
  one.set("x", {escaped(text), {}});
  std::string line = config::to_toml(one).substr(4);
  while (line.ends_with('\n')) line.pop_back();
  return line;
}

std::string to_text(const Draft& draft) {
  std::string text;
  for (const std::string& remark : draft.remarks) text += comment(escaped(remark));
  text += line_of("title", {"title", draft.title, {}});
  for (const DraftKey& entry : draft.keys)
    if (entry.key.find('.') == std::string::npos) text += line_of(entry.key, entry);
  for (const std::string_view section : sections) {
    std::string lines;
    for (const DraftKey& entry : draft.keys) {
      const std::size_t dot = entry.key.find('.');
      if (dot != std::string::npos && entry.key.compare(0, dot, section) == 0)
        lines += line_of(entry.key.substr(dot + 1), entry);
    }
    lines += lists_of(draft, section);
    if (!lines.empty()) text += fmt::format("\n[{}]\n{}", section, lines);
  }
  return text;
}

}  // namespace tessera::experiment::importing
