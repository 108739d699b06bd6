#include "foreign_files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <sstream>
#include <vector>

namespace tessera::experiment {
namespace {

/// A file that begins with these bytes.
struct Magic {
  std::string_view bytes, name;
};
constexpr std::array magics{
    Magic{"\x89HDF", "an HDF5 file, which `tessera show` reads"},
    Magic{"PK\x03\x04", "a ZIP archive"},
    Magic{"\x1f\x8b", "a gzip archive"},
    Magic{"\x28\xb5\x2f\xfd", "a zstd archive"},
    Magic{"\x7f"
          "ELF",
          "a program"},
    Magic{"#!", "a script"},
    Magic{"<", "an XML file"},
};

constexpr std::string_view some_json = "a JSON file";
constexpr std::string_view hugging_face = "a Hugging Face configuration, which model = \"FILE.json\" names";
constexpr std::string_view graph_in_json = "a graph in JSON, which model = \"FILE.json\" names";
constexpr std::string_view onnx = "an ONNX graph, which model = \"FILE.onnx\" names";

/// A JSON file with all of these keys; the first that fits counts.
struct JsonKind {
  std::array<std::string_view, 3> keys;
  std::string_view name;
};
constexpr std::array json_kinds{
    JsonKind{{"\"matrix\"", "\"vector\"", "\"networks\""}, "a Calculon system"},
    JsonKind{{"\"attn_heads\"", "\"feedforward\"", "\"seq_size\""}, "a Calculon application"},
    JsonKind{{"\"tensor_par\"", "\"pipeline_par\"", "\"data_par\""}, "a Calculon execution"},
    JsonKind{{"\"zero_optimization\"", "", ""}, "a DeepSpeed configuration"},
    JsonKind{{"\"train_micro_batch_size_per_gpu\"", "", ""}, "a DeepSpeed configuration"},
    JsonKind{{"\"all-reduce-implementation\"", "", ""}, "an ASTRA-sim system"},
    JsonKind{{"\"logical-dims\"", "", ""}, "an ASTRA-sim topology"},
    JsonKind{{"\"memory-type\"", "", ""}, "an ASTRA-sim memory"},
    JsonKind{{"\"traceEvents\"", "", ""}, "a trace of Chrome's or PyTorch's profiler"},
    JsonKind{{"\"schema\"", "\"nodes\"", "\"pid\""}, "a PyTorch or Chakra execution trace"},
    JsonKind{{"\"model_type\"", "", ""}, hugging_face},
    JsonKind{{"\"nodes\"", "", ""}, graph_in_json},
};

bool contains(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

std::string_view kind_of_json(std::string_view text) {
  for (const JsonKind& kind : json_kinds)
    if (std::ranges::all_of(kind.keys, [&](std::string_view key) { return contains(text, key); })) return kind.name;
  return some_json;
}

/// Records of protocol buffers, each behind its length. A Chakra trace begins with its version, field 1: length, 0x0A,
/// length, "0.0.4". An ONNX model begins with its IR version, field 1, and its producer's name, field 2.
std::string_view kind_of_protobuf(std::string_view text) {
  if (text.size() < 4) return "";
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  if (byte(0) < 0x20 && byte(1) == 0x0A && byte(2) + 2 <= byte(0) && std::isdigit(byte(3)) != 0)
    return "a Chakra execution trace";
  return byte(0) == 0x08 && byte(2) == 0x12 ? onnx : "";
}

std::string first_line(std::string_view text) { return std::string(text.substr(0, text.find('\n'))); }

/// Words of SimAI's and ASTRA-sim's own text formats.
std::string_view kind_of_words(std::string_view text) {
  if (contains(text, "model_parallel_NPU_group:")) return "a SimAI workload";
  for (const char* policy : {"HYBRID_", "DATA\n", "DATA\r", "MODEL\n", "MODEL\r", "MICRO\n", "MICRO\r"})
    if (text.starts_with(policy)) return "an ASTRA-sim workload in text form";
  std::istringstream line(first_line(text));
  int numbers = 0;
  for (long long number = 0; line >> number;) ++numbers;  // nodes, GPUs a server, switches, links
  return numbers >= 2 && contains(text, "Gbps") ? "a SimAI topology" : "";
}

bool is_ended(std::string_view text, std::size_t at) {
  return at >= text.size() || text[at] == ' ' || text[at] == '\r';
}

/// Whether the first line that says something is "key:", "key: value" or "- value", and none is TOML's.
bool looks_like_yaml(std::string_view text) {
  if (contains(text, "\n[") || contains(text, " = ")) return false;
  while (!text.empty()) {
    const std::string line = first_line(text);
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    const std::size_t begin = line.find_first_not_of(" \t\r");
    if (begin == std::string::npos || line[begin] == '#') continue;
    if (line.starts_with("---") || line.starts_with("%YAML") || line.starts_with("- ")) return true;
    const auto is_key = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-'; };
    std::size_t end = begin;
    while (end < line.size() && is_key(line[end])) ++end;
    return end > begin && end < line.size() && line[end] == ':' && is_ended(line, end + 1);
  }
  return false;
}

std::string_view kind_of_yaml(std::string_view text) {
  return contains(text, "npus_count:") ? "an ASTRA-sim network (YAML)" : "a YAML file";
}

std::string_view what_is_read(std::string_view expected) {
  if (expected == "a machine") return "TOML (docs/machines.md)";
  if (expected == "a model") return "TOML, a Hugging Face config.json or an ONNX graph (docs/models.md)";
  if (expected == "a sweep") return "TOML (docs/sweeps.md)";
  if (expected == "a plan") return "TOML, as `tessera plan` writes it";
  return "TOML (docs/experiments.md)";
}

/// What a model may be beside TOML.
bool is_model(std::string_view kind, const std::string& file) {
  return file.ends_with(".onnx") ||
         (file.ends_with(".json") && (kind == some_json || kind == hugging_face || kind == graph_in_json));
}

/// Files that are TOML are never somebody else's, whatever they look like.
bool is_toml(const std::string& text, const std::string& file) {
  config::Diagnostics ignored;
  static_cast<void>(config::parse_toml(text, file, ignored));
  return ignored.ok();
}

}  // namespace

std::string kind_of_foreign_file(std::string_view text, std::string_view file) {
  for (const Magic& magic : magics)
    if (text.starts_with(magic.bytes)) return std::string(magic.name);
  if (const std::string_view kind = kind_of_protobuf(text); !kind.empty()) return std::string(kind);
  const std::size_t begin = text.find_first_not_of(" \t\r\n");
  if (begin == std::string_view::npos) return {};
  const std::string extension = std::filesystem::path(file).extension().string();
  if (text[begin] == '{' || extension == ".json") return std::string(kind_of_json(text));
  if (const std::string_view kind = kind_of_words(text.substr(begin)); !kind.empty()) return std::string(kind);
  if (extension == ".yaml" || extension == ".yml" || looks_like_yaml(text)) return std::string(kind_of_yaml(text));
  return extension == ".et" ? "a Chakra execution trace" : "";
}

bool refuse_foreign_file(const std::string& text, const std::string& file, std::string_view expected,
                         config::Diagnostics& diagnostics) {
  const std::string kind = kind_of_foreign_file(text, file);
  if (kind.empty() || (expected == "a model" && is_model(kind, file)) || is_toml(text, file)) return false;
  diagnostics.error({file, 1, 1}, fmt::format("this is {}, expected {} in {}", kind, expected, what_is_read(expected)));
  return true;
}

bool has_foreign_extension(std::string_view name) {
  constexpr std::array known{".yaml", ".yml", ".json", ".et", ".txt", ".onnx", ".h5", ".sh", ".py", ".xml"};
  return std::ranges::any_of(known, [&](std::string_view one) { return name.ends_with(one); });
}

}  // namespace tessera::experiment
