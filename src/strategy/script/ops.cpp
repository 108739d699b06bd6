#include "ops.hpp"

#include <fmt/core.h>

#include <algorithm>

namespace tessera::strategy::script {
namespace {

using Words = std::vector<std::string>;

struct OpKeys {
  std::string op;
  Words needs;
  Words takes;  ///< besides what it needs and what all ops take
};

const Words& common_keys() {
  static const Words keys{"op", "devices", "stream", "repeat", "label", "activity"};
  return keys;
}

const std::vector<OpKeys>& ops() {
  static const std::vector<OpKeys> all{
      {"gemm", {"m", "n", "k"}, {"batch", "datatype"}},
      {"compute", {}, {"flops", "read", "write", "datatype", "time"}},
      {"send", {"bytes"}, {"peer", "shift", "channel"}},
      {"receive", {"bytes"}, {"peer", "shift", "channel"}},
      {"wait-sends", {}, {}},
      {"all-reduce", {"group", "bytes"}, {"algorithm", "element"}},
      {"reduce-scatter", {"group", "bytes"}, {"algorithm", "element"}},
      {"all-gather", {"group", "bytes"}, {"algorithm", "element"}},
      {"all-to-all", {"group", "bytes"}, {"algorithm", "element", "shares"}},
      {"broadcast", {"group", "bytes"}, {"algorithm", "element", "root"}},
      {"signal", {}, {"event", "count"}},
      {"wait", {}, {"event", "count"}},
      {"allocate", {"bytes"}, {"memory"}},
      {"release", {"bytes"}, {"memory"}},
      {"run", {"block"}, {}},
  };
  return all;
}

bool contains(const Words& words, const std::string& word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

std::string list_of(const OpKeys& keys) {
  std::string text;
  for (const Words* words : {&keys.needs, &keys.takes, &common_keys()}) {
    for (const std::string& word : *words) text += (text.empty() ? "" : ", ") + word;
  }
  return text;
}

/// Exactly one way to name the other end.
void check_peer(const config::Table& step, const std::string& op, config::Diagnostics& diagnostics) {
  const config::Value* peer = step.find("peer");
  const config::Value* shift = step.find("shift");
  if (peer == nullptr && shift == nullptr) {
    diagnostics.error(step.where(),
                      fmt::format("op \"{}\" needs \"peer\" (a device) or \"shift\" (places further)", op));
  }
  if (peer != nullptr && shift != nullptr) {
    diagnostics.error(shift->key_where(), "\"shift\" beside \"peer\": only one of them is allowed");
  }
}

/// What it does, or how long it takes.
void check_work(const config::Table& step, config::Diagnostics& diagnostics) {
  const bool works = step.find("flops") != nullptr || step.find("read") != nullptr || step.find("write") != nullptr;
  const config::Value* time = step.find("time");
  if (!works && time == nullptr)
    diagnostics.error(step.where(), "op \"compute\" needs \"flops\", \"read\" or \"write\", or \"time\"");
  if (works && time != nullptr)
    diagnostics.error(time->key_where(),
                      "\"time\" beside \"flops\", \"read\" or \"write\": only one says how long it takes");
}

}  // namespace

std::vector<std::string> op_names() {
  Words names;
  for (const OpKeys& keys : ops()) names.push_back(keys.op);
  return names;
}

std::optional<program::CollectiveKind> collective_kind(const std::string& op) {
  using Kind = program::CollectiveKind;
  for (const Kind kind :
       {Kind::all_reduce, Kind::reduce_scatter, Kind::all_gather, Kind::all_to_all, Kind::broadcast}) {
    if (op == program::name_of(kind)) return kind;
  }
  return std::nullopt;
}

bool communicates(const std::string& op) {
  return collective_kind(op) || op == "send" || op == "receive" || op == "wait-sends" || op == "wait";
}

void check_keys(const config::Table& step, const std::string& op, config::Diagnostics& diagnostics) {
  const auto keys = std::find_if(ops().begin(), ops().end(), [&](const OpKeys& one) { return one.op == op; });
  if (keys == ops().end()) return;  // reported by the schema
  for (const std::string& key : keys->needs) {
    if (step.find(key) == nullptr) diagnostics.error(step.where(), fmt::format("op \"{}\" needs \"{}\"", op, key));
  }
  for (const auto& [key, value] : step.entries()) {
    const bool known = std::any_of(ops().begin(), ops().end(), [&, word = key](const OpKeys& one) {
      return contains(one.needs, word) || contains(one.takes, word);
    });
    if (!known || contains(keys->needs, key) || contains(keys->takes, key)) continue;
    diagnostics.error(value.key_where(),
                      fmt::format("op \"{}\" takes no \"{}\", allowed: {}", op, key, list_of(*keys)));
  }
  if (op == "send" || op == "receive") check_peer(step, op, diagnostics);
  if (op == "compute") check_work(step, diagnostics);
}

}  // namespace tessera::strategy::script
