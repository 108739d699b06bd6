// The part of YAML that configurations of training jobs are written in.
#pragma once

#include <memory>
#include <string>

#include "tessera/base/config.hpp"

namespace tessera::experiment::importing {

/// Mappings and lists by indentation or in brackets, plain and quoted scalars, comments, text blocks. As in
/// configurations of Hugging Face, a key whose value is null counts as absent; of one that is there twice the last
/// counts, with a warning. What else YAML has (anchors, tags of types, several documents, keys that are no text) is an
/// error at its place. Null after an error.
[[nodiscard]] std::shared_ptr<config::Table> parse_yaml(const std::string& text, const std::string& file,
                                                        config::Diagnostics& diagnostics);

}  // namespace tessera::experiment::importing
