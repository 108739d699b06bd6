// Words that other tools have for what is called otherwise here, or is not modelled: what messages and `tessera help`
// say of them in the place of a guess. A row of src/base/foreign_words.cpp goes when its words are modelled.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tessera::config {

struct ForeignWord {
  std::string_view words;  ///< in lower case, '_' for '-', separated by blanks; `name*`: all that begin with it
  std::string_view here;   ///< keys with their section ("strategy.megatron.tensor"), or values; empty: not modelled
  std::string_view note;   ///< what is not modelled, and what is there instead; of a key how it is used
};

[[nodiscard]] std::span<const ForeignWord> foreign_words();
/// The row of a word, which may be written as an option: "--tensor-model-parallel-size"; null where no tool has it.
[[nodiscard]] const ForeignWord* find_foreign_word(std::string_view word);
/// Those of ForeignWord::here.
[[nodiscard]] std::vector<std::string> names_here(const ForeignWord& row);

/// `it is "tensor" of [strategy.megatron] here`, `not modelled: NVLS, ...`, without the section where that is
/// `section`. Empty where no tool is known to have the word. "--tensor-model-parallel-size" counts as
/// "tensor_model_parallel".
[[nodiscard]] std::string foreign_hint(std::string_view word, std::string_view section = {});

/// In brackets behind an unknown word: foreign_hint(), or else the nearest of `choices`, or nothing. Not for names that
/// users give themselves.
[[nodiscard]] std::string hint(std::string_view word, const std::vector<std::string>& choices);

}  // namespace tessera::config
