// Options of Megatron-LM and its kin: what of them is a key here, what changes nothing, what cannot be said.
#pragma once

#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "formats.hpp"

namespace tessera::experiment::importing {

/// One option of a launch line, or one leaf of a YAML file.
struct Flag {
  std::string name;   ///< "tensor_model_parallel_size": without dashes in front, in lower case, '_' for '-'
  std::string given;  ///< as the source has it: "--tensor-model-parallel-size"
  std::string value;  ///< "8"; of several words with blanks between them; empty: it is only there
  std::string unset;  ///< a variable of the script that was not set where the value should come from
  config::Location where;
};

[[nodiscard]] Flag make_flag(std::string_view given, std::string value, config::Location where);

/// In lower case.
[[nodiscard]] std::string lower(std::string_view text);

using Flags = std::vector<Flag>;
/// The last one of that name, as command lines take it; null where there is none.
[[nodiscard]] const Flag* find(const Flags& flags, std::string_view name);
/// The first of these names that is there; null where none is.
[[nodiscard]] const Flag* first_of(const Flags& flags, std::initializer_list<std::string_view> names);
/// Whether it is there, and not with a value that says no.
[[nodiscard]] bool is_on(const Flags& flags, std::string_view name);
/// A whole number of at least 1; nothing where the flag is absent or says no, and after an error.
[[nodiscard]] std::optional<std::int64_t> count_in(const Flags& flags, std::string_view name,
                                                   config::Diagnostics& diagnostics);

/// How a flag becomes a value.
enum class Conversion {
  whole,    ///< its whole number
  on,       ///< true; false where its value says no
  off,      ///< the opposite
  word,     ///< one of FlagRow::words, "theirs=ours theirs=ours"; what has no `=ours` behind it changes nothing
  fixed,    ///< FlagRow::words, unless its value says no
  by_hand,  ///< read where several flags together make a key
  nothing,  ///< it changes neither work, memory nor messages
  timing,   ///< it changes only when things are done: left out with a warning, which FlagRow::words says
  refused,  ///< it changes the computation: FlagRow::words says what is not modelled
};

struct FlagRow {
  std::string_view flags;  ///< names separated by blanks; `name*`: all that begin with it
  Conversion conversion = Conversion::nothing;
  std::string_view key;  ///< "model.bias"; empty: that of config::find_foreign_word(); "-": none, the value is checked
  std::string_view words;
};
/// The first row that has a name counts. What no row has is looked up among the words of other tools.
[[nodiscard]] std::span<const FlagRow> flag_rows();

/// Puts what the rows make of the flags into the draft. Refused flags are errors, unless they say no or the request
/// does without them; what nothing is known of warns. Remarks list what is left out.
void apply_flags(const Flags& flags, Draft& draft, config::Diagnostics& diagnostics);

}  // namespace tessera::experiment::importing
