// Models and shapes for the tests of this layer.
#pragma once

#include <catch2/catch.hpp>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "support/source_folder.hpp"
#include "tessera/workload/transformer.hpp"

namespace tessera::workload {

inline std::string text_of(const std::string& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

inline const std::string models_folder = test::source_folder() + "/inputs/models/";

/// A model of inputs/models, read without error, and without a warning but of weights that are quantised or left out,
/// or of residuals in FP32.
inline Model model_named(const std::string& file) {
  config::Diagnostics diagnostics;
  const Model model = read_model_file(text_of(models_folder + file), file, diagnostics);
  REQUIRE(diagnostics.errors() == std::vector<std::string>{});
  for (const std::string& warning : diagnostics.warnings()) {
    CAPTURE(warning);
    REQUIRE((warning.find("\"quantization_config\"") != std::string::npos ||
             warning.find("\"vision_config\"") != std::string::npos ||
             warning.find("\"image_grid_pinpoints\"") != std::string::npos ||
             warning.find("\"residual_in_fp32\"") != std::string::npos));
  }
  return model;
}

/// Of a model file in TOML, read without error.
inline Model model_from(const std::string& toml) {
  config::Diagnostics diagnostics;
  const Model model = read_model_file(toml, "m.toml", diagnostics);
  REQUIRE(diagnostics.errors() == std::vector<std::string>{});
  return model;
}

/// Errors of a model file in TOML.
inline std::vector<std::string> errors_of(const std::string& text, const std::string& file = "m.toml") {
  config::Diagnostics diagnostics;
  const Model model = read_model_file(text, file, diagnostics);
  static_cast<void>(model);
  return diagnostics.errors();
}

/// GPT-3 175B as Korthikanti et al. train it: s = 2048, b = 1, t = 8.
inline LayerShape shape_of_paper(std::int64_t micro_batch, bool sequence_parallel) {
  LayerShape shape;
  shape.sequence = 2048;
  shape.micro_batch = micro_batch;
  shape.tensor = 8;
  shape.sequence_parallel = sequence_parallel;
  return shape;
}

/// The first of a name, or the one behind `number` others of it.
inline const Operator& named(const std::vector<Operator>& operators, const std::string& name, std::size_t number = 0) {
  for (const Operator& op : operators) {
    if (op.name == name && number-- == 0) return op;
  }
  FAIL("there is no operator \"" << name << "\"");
  return operators.front();
}

inline std::vector<std::string> names_of(const std::vector<Operator>& operators) {
  std::vector<std::string> names;
  for (const Operator& op : operators) names.push_back(op.name);
  return names;
}

using Names = std::vector<std::string>;

using Sizes = std::vector<std::int64_t>;
/// Batch, m, n, k of a product.
inline Sizes sizes(const Operator& op) { return {op.batch, op.m, op.n, op.k}; }
/// Read, written.
inline Sizes bytes(const Operator& op) { return {op.bytes_read, op.bytes_written}; }
/// Both.
inline std::int64_t moved(const Operator& op) { return op.bytes_read + op.bytes_written; }

struct ConfigReading {
  Model model;
  Names errors;
  Names warnings;
};

/// Of a Hugging Face configuration.
inline ConfigReading read_config(const std::string& json) {
  config::Diagnostics diagnostics;
  ConfigReading reading;
  reading.model = read_hugging_face(json, "config.json", diagnostics);
  reading.errors = diagnostics.errors();
  reading.warnings = diagnostics.warnings();
  return reading;
}

/// Of a Hugging Face configuration that is read without error or warning.
inline Model model_from_config(const std::string& json) {
  const ConfigReading reading = read_config(json);
  CAPTURE(json);
  REQUIRE(reading.errors == Names{});
  REQUIRE(reading.warnings == Names{});
  return reading.model;
}

}  // namespace tessera::workload
