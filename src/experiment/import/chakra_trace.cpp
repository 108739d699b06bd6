#include "chakra_trace.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <filesystem>
#include <limits>

namespace tessera::experiment::importing {
namespace {

/// One field of a message: its number, and a number or bytes.
struct WireField {
  std::uint32_t number = 0, kind = 0;  ///< kind: 0 varint, 1 fixed 64, 2 bytes, 5 fixed 32
  std::uint64_t value = 0;
  std::string_view bytes;
};

/// Reads a text from its begin to its end; `failed` once what is there is no message.
class WireReader {
 public:
  explicit WireReader(std::string_view text) : text_(text) {}
  [[nodiscard]] bool is_done() const { return failed_ || at_ == text_.size(); }
  [[nodiscard]] bool failed() const { return failed_; }
  [[nodiscard]] std::size_t at() const { return at_; }

  std::uint64_t varint() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      if (at_ >= text_.size()) break;
      const auto byte = static_cast<unsigned char>(text_[at_++]);
      value |= static_cast<std::uint64_t>(byte & 0x7FU) << shift;
      if ((byte & 0x80U) == 0) return value;
    }
    failed_ = true;
    return 0;
  }

  std::string_view bytes(std::uint64_t size) {
    if (failed_ || size > text_.size() - at_) {
      failed_ = true;
      return {};
    }
    const std::string_view part = text_.substr(at_, size);
    at_ += size;
    return part;
  }

  WireField field() {
    WireField field;
    const std::uint64_t tag = varint();
    field.number = static_cast<std::uint32_t>(tag >> 3U);
    field.kind = static_cast<std::uint32_t>(tag & 7U);
    if (field.kind == 0) {
      field.value = varint();
    } else if (field.kind == 2) {
      field.bytes = bytes(varint());
    } else if (field.kind == 1 || field.kind == 5) {
      const std::string_view raw = bytes(field.kind == 1 ? 8 : 4);
      if (!failed_) std::memcpy(&field.value, raw.data(), raw.size());  // little-endian, as this program's hosts are
    } else {
      failed_ = true;
    }
    return field;
  }

 private:
  std::string_view text_;
  std::size_t at_ = 0;
  bool failed_ = false;
};

std::int64_t zigzag(std::uint64_t value) {
  return static_cast<std::int64_t>(value >> 1U) ^ -static_cast<std::int64_t>(value & 1U);
}

double as_double(std::uint64_t bits) {
  double value = 0;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

double as_float(std::uint64_t bits) {
  float value = 0;
  std::memcpy(&value, &bits, sizeof value);
  return static_cast<double>(value);
}

/// AttributeProto: a name and one of many kinds of values, of which those that nodes are read by are kept.
bool read_attribute(std::string_view message, ChakraNode& node) {
  WireReader wire(message);
  std::string name;
  std::optional<ChakraValue> value;
  while (!wire.is_done()) {
    const WireField field = wire.field();
    switch (field.number) {
      case 1:
        name = field.bytes;
        break;
      case 3:
        value = as_double(field.value);
        break;
      case 5:
        value = as_float(field.value);
        break;
      case 7:
      case 9:
      case 11:
      case 13:
      case 19:
      case 21:
      case 25:
      case 27:
        value =
            static_cast<std::int64_t>(std::min<std::uint64_t>(field.value, std::numeric_limits<std::int64_t>::max()));
        break;
      case 15:
      case 17:
        value = zigzag(field.value);
        break;
      case 23:
        value = static_cast<std::int64_t>(static_cast<std::int32_t>(field.value));
        break;
      case 28: {
        WireReader list(field.bytes);  // BoolList: values = 1, packed
        std::vector<bool> truths;
        while (!list.is_done()) {
          const WireField one = list.field();
          if (one.kind == 0) truths.push_back(one.value != 0);
          for (const char packed : one.bytes) truths.push_back(packed != 0);
        }
        value = truths;
        break;
      }
      case 29:
        value = std::string(field.bytes);
        break;
      default:
        break;
    }
  }
  if (value && !name.empty()) node.attributes[name] = *value;
  return !wire.failed();
}

/// Dependencies one by one, or packed.
void add_dependencies(const WireField& field, std::vector<std::uint64_t>& dependencies) {
  if (field.kind == 0) return dependencies.push_back(field.value);
  WireReader packed(field.bytes);
  while (!packed.is_done()) dependencies.push_back(packed.varint());
}

/// Empty, or why it is no node.
std::string read_node(std::string_view message, ChakraNode& node) {
  WireReader wire(message);
  while (!wire.is_done()) {
    const WireField field = wire.field();
    switch (field.number) {
      case 1:
        node.id = field.value;
        break;
      case 2:
        node.name = field.bytes;
        break;
      case 3:
        if (field.value > static_cast<std::uint64_t>(ChakraType::collective))
          return fmt::format("a node of type {}, known: 0 to {}", field.value,
                             static_cast<int>(ChakraType::collective));
        node.type = static_cast<ChakraType>(field.value);
        break;
      case 4:
      case 5:
        add_dependencies(field, node.dependencies);
        break;
      case 7:
        node.microseconds = static_cast<std::int64_t>(std::min<std::uint64_t>(field.value, 1'000'000'000'000));
        break;
      case 10:
        if (!read_attribute(field.bytes, node)) return "an attribute that is no message";
        break;
      default:
        break;
    }
  }
  return wire.failed() ? "not a node of schema et_def.proto" : "";
}

/// "12" of "trace.12.et".
std::optional<std::int64_t> rank_of(const std::string& path) {
  const std::string stem = std::filesystem::path(path).stem().string();
  const std::size_t dot = stem.rfind('.');
  const std::string digits = dot == std::string::npos ? "" : stem.substr(dot + 1);
  const bool is_number =
      !digits.empty() && digits.size() < 10 && std::ranges::all_of(digits, [](char c) { return c >= '0' && c <= '9'; });
  return is_number ? std::optional<std::int64_t>(std::stoll(digits)) : std::nullopt;
}

}  // namespace

const char* name_of(ChakraType type) {
  constexpr std::array names{"INVALID_NODE", "METADATA_NODE",  "MEM_LOAD_NODE",  "MEM_STORE_NODE",
                             "COMP_NODE",    "COMM_SEND_NODE", "COMM_RECV_NODE", "COMM_COLL_NODE"};
  return names[static_cast<std::size_t>(type)];
}

std::int64_t number_in(const ChakraNode& node, const std::string& name, std::int64_t otherwise) {
  const auto found = node.attributes.find(name);
  if (found == node.attributes.end()) return otherwise;
  if (const auto* number = std::get_if<std::int64_t>(&found->second)) return *number;
  const auto* real = std::get_if<double>(&found->second);
  return real != nullptr && *real >= 0 && *real < 9e18 ? static_cast<std::int64_t>(*real) : otherwise;
}

ChakraTrace read_trace(const SourceFile& file, config::Diagnostics& diagnostics) {
  ChakraTrace trace;
  trace.file = file.path;
  const auto fail = [&](std::size_t byte, const std::string& what) {
    diagnostics.error({file.path, 0, 0}, fmt::format("byte {}: {}", byte, what));
  };
  const auto rank = rank_of(file.path);
  if (!rank) fail(0, "the name says no rank, expected NAME.RANK.et");
  trace.rank = rank.value_or(0);
  WireReader wire(file.text);
  bool is_first = true;
  while (!wire.is_done()) {
    const std::size_t begin = wire.at();
    const std::string_view message = wire.bytes(wire.varint());
    if (wire.failed()) break;
    if (std::exchange(is_first, false)) {
      WireReader metadata(message);  // GlobalMetadata: version = 1
      while (!metadata.is_done())
        if (const WireField field = metadata.field(); field.number == 1) trace.version = field.bytes;
      continue;
    }
    ChakraNode node;
    if (const std::string problem = read_node(message, node); !problem.empty()) {
      fail(begin, problem);
      return trace;
    }
    trace.nodes.push_back(std::move(node));
  }
  if (wire.failed())
    fail(wire.at(), "the trace is cut off, or no Chakra trace");
  else if (trace.nodes.empty())
    fail(0, "a trace without nodes");
  return trace;
}

}  // namespace tessera::experiment::importing
