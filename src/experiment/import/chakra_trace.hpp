// Chakra execution traces as their files have them (schema/protobuf/et_def.proto of mlcommons/chakra): messages of
// protocol buffers, each behind its length; the first one is the trace's, all others are nodes.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <variant>
#include <vector>

#include "formats.hpp"

namespace tessera::experiment::importing {

enum class ChakraType : std::uint8_t { invalid, metadata, load, store, compute, send, receive, collective };
[[nodiscard]] const char* name_of(ChakraType type);

using ChakraValue = std::variant<std::int64_t, double, std::string, std::vector<bool>>;

struct ChakraNode {
  std::uint64_t id = 0;
  std::string name;
  ChakraType type = ChakraType::invalid;
  std::vector<std::uint64_t> dependencies;  ///< control and data
  std::int64_t microseconds = 0;            ///< how long it took where it was traced; 0: unknown
  std::map<std::string, ChakraValue> attributes;
};

/// One rank's.
struct ChakraTrace {
  std::string file, version;
  std::int64_t rank = 0;  ///< by the file's name: NAME.RANK.et
  std::vector<ChakraNode> nodes;
};

/// A whole number or a truth; `otherwise` where the node has no such attribute, or it is something else.
[[nodiscard]] std::int64_t number_in(const ChakraNode& node, const std::string& name, std::int64_t otherwise);

/// What is cut off, of another form, or of a type that the schema does not have is an error at its byte.
[[nodiscard]] ChakraTrace read_trace(const SourceFile& file, config::Diagnostics& diagnostics);

}  // namespace tessera::experiment::importing
