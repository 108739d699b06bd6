// A Hugging Face config.json as the families read it: each key is read, ignored on purpose, or required to be off.
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <string>
#include <vector>

#include "model_fields.hpp"
#include "tessera/base/config.hpp"

namespace tessera::workload {

class HuggingFaceConfig {
 public:
  /// Invalid JSON goes to `diagnostics`; valid() is false then. `over`: what an experiment says of the model besides;
  /// null: nothing.
  HuggingFaceConfig(const std::string& json, std::string file, config::Diagnostics& diagnostics,
                    const config::Table* over = nullptr);
  ~HuggingFaceConfig();
  HuggingFaceConfig(const HuggingFaceConfig&) = delete;
  HuggingFaceConfig& operator=(const HuggingFaceConfig&) = delete;

  [[nodiscard]] bool valid() const;
  [[nodiscard]] bool has(const std::string& key) const;    ///< present and not null
  [[nodiscard]] bool gives(const std::string& key) const;  ///< present, be it null

  /// The first of `keys` that is present and not null, for `field` of Model. Missing, not an integer or below 1: an
  /// error.
  std::int64_t integer(const std::string& field, const std::vector<std::string>& keys);
  /// The same, or `fallback` where there is none; below `least` is an error.
  std::int64_t integer_or(const std::string& field, const std::vector<std::string>& keys, std::int64_t fallback,
                          std::int64_t least = 1);
  bool boolean_or(const std::string& key, bool fallback);
  std::string text_or(const std::string& key, const std::string& fallback);
  /// A number from 0 to `most`.
  double number_or(const std::string& field, const std::vector<std::string>& keys, double fallback, double most);
  /// Of a list; empty where there is none.
  std::vector<std::string> texts_or(const std::string& key);
  std::vector<std::int64_t> integers_or(const std::string& key);
  /// true or false, or a number that is not 0 or is.
  bool truth_or(const std::string& key, bool fallback);
  /// A key that is not there counts as that; one that is null as `value` too.
  void otherwise(const std::string& key, std::int64_t value);
  /// A part of the model that is not modelled: warns of it.
  void leave_out(const std::string& key, const std::string& what);
  /// Reads the configuration that this one has within it, under a key, as one of its own; then goes on with this one.
  /// Fields that `act` asks for have the key's `field` before their names: "vision.heads". False, and an error: none.
  bool within(const std::string& key, const std::string& field, const std::function<void()>& act);
  /// From here on the configuration is the one that this one has within it, under a key. False, and an error: none.
  bool enter(const std::string& key);
  /// A key with code of its own ("auto_map") is accepted where that is this class, which was published before
  /// transformers had it.
  void accept_code(const std::string& configuration);
  /// How published weights are quantised, which models are not here: warns of it.
  void accept_quantization();
  /// Code of its own and quantised weights are refused where the family has not asked for them.
  void refuse_other_code();
  /// Whether a key was asked for.
  [[nodiscard]] bool reads(const std::string& key) const;
  /// Whether any of these dropout probabilities is not 0. Dropout layers exist all or none; a mixture warns.
  bool dropout(const std::vector<std::string>& keys, double fallback);

  /// Keys that change neither work nor memory.
  void ignore(std::initializer_list<const char*> keys);
  /// All keys of the configuration, of which there is nothing more to say.
  void ignore_all();
  /// Keys that change the computation and are not modelled: absent, null, false, 0 or empty, or an error.
  void must_be_off(std::initializer_list<const char*> keys);
  /// A key whose value was read, and found of no use, for the field of that name.
  void report(const std::string& key, const std::string& what);
  void warn(const std::string& key, const std::string& what);
  /// Whether the experiment itself says a key of a table of [model].
  [[nodiscard]] bool is_laid_over(const std::string& table, const std::string& key) const;
  /// A key with one value that is modelled.
  void must_be(const std::string& key, const std::string& text);
  /// Reports a key's value as not modelled.
  void refuse(const std::string& key, const std::string& allowed);

  /// Warns of each key that no family asked for.
  void warn_of_the_rest();
  /// The text under a key of the object that stands under `key`; empty where there is none.
  [[nodiscard]] std::string text_within(const std::string& key, const std::string& inner) const;
  [[nodiscard]] FieldOrigin origin(const std::string& path) const;
  [[nodiscard]] config::Location where(const std::string& key) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Keys that every family treats alike.
void read_common(HuggingFaceConfig& config);

/// Models of one architecture. Adding one is one file in src/workload/families/ and its line in families.cpp.
struct Family {
  std::vector<std::string> model_types;  ///< values of "model_type"
  Model (*read)(HuggingFaceConfig& config);
};
[[nodiscard]] const std::vector<Family>& families();

}  // namespace tessera::workload
