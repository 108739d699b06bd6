// The steps from a file to a resolved table.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "tessera/base/config.hpp"
#include "tessera/experiment/experiment.hpp"
#include "tessera/experiment/input_files.hpp"

namespace tessera::experiment {

/// Whether a top-level key may name a file instead of holding a table.
[[nodiscard]] inline bool is_included(const std::string& key) { return key == "machine" || key == "model"; }

/// Puts the value of a setting into the tree of the experiment.
void apply(config::Table& root, const Setting& setting, config::Diagnostics& diagnostics);

/// Whether a text is the path of a key: "a.b.c", without holes and not too deep.
[[nodiscard]] bool is_key(const std::string& text);
/// "a", "b", "c" of "a.b.c".
[[nodiscard]] std::vector<std::string> parts_of(const std::string& key);
/// Puts a value under the path of a key, through tables that are made where they are absent; a machine or a model that
/// is a name becomes a table that includes it.
void put(config::Table& root, const std::string& key, config::Value value, config::Diagnostics& diagnostics);

/// As InputFiles::read(), for what is read once and by one rank.
[[nodiscard]] std::optional<std::string> read_file(const std::filesystem::path& path,
                                                   std::size_t most_bytes = InputFiles::most_bytes);

/// Where the names in an experiment are looked up: beside the file that they stand in, and in folders.
struct SearchPath {
  std::filesystem::path own;                   ///< for names that stand in no file
  std::vector<std::filesystem::path> folders;  ///< with machines/, models/ and recipes/ in them
  InputFiles& files;
  bool beside = true;  ///< whether names are looked up in the file's own folder as well
};

/// What the folders offer by name, sorted.
[[nodiscard]] std::vector<std::string> machine_names(const SearchPath& search);
[[nodiscard]] std::vector<std::string> model_names(const SearchPath& search);
[[nodiscard]] std::vector<std::string> recipe_names(const SearchPath& search);

/// Replaces machine = "name" and [machine] include = "name" by what the named file says, with the table's own keys over
/// it.
void inline_machine(config::Table& root, const SearchPath& search, config::Diagnostics& diagnostics);
/// The same for the model, whose files may also be Hugging Face configurations.
void inline_model(config::Table& root, const SearchPath& search, config::Diagnostics& diagnostics);
/// What a model's file says: TOML keeps its positions, a Hugging Face configuration becomes the fields that it stands
/// for, and what lists nodes a graph. Of ONNX the keys `datatype` and `dimensions` of the
/// naming table are used up. Null after an error.
[[nodiscard]] std::shared_ptr<config::Table> parse_model(const std::string& text, const std::string& file,
                                                         config::Table& naming, config::Diagnostics& diagnostics);
/// A [model] table, or the name of one, with what the files that it names say; null after an error. Networks and lists
/// of them are still what they are.
[[nodiscard]] std::shared_ptr<config::Table> model_with_files(const config::Value& model, const SearchPath& search,
                                                              config::Diagnostics& diagnostics);
/// The recipe of that name, with those that it includes; null after an error.
[[nodiscard]] std::shared_ptr<config::Table> read_recipe(const config::Value& name, const SearchPath& search,
                                                         config::Diagnostics& diagnostics);
/// Replaces recipe = "name" by the tables of the named file, each key of which is a default: the experiment's own win.
void inline_recipe(config::Table& root, const SearchPath& search, config::Diagnostics& diagnostics);

/// Reads the files that the tables [strategy] and [cost] name, and notes their hashes in [attachments]. One that has
/// another hash than [attachments] says, missing and unreadable ones are reported.
[[nodiscard]] std::vector<Attachment> attach(config::Table& resolved, const strategy::Strategies& strategies,
                                             InputFiles& files, config::Diagnostics& diagnostics);

/// Attachments::tensors_of.
[[nodiscard]] Tensors tensors_of(const Attachment& file);

/// An experiment file's table, as it is written; or that of a file that is called otherwise where it is none.
[[nodiscard]] std::shared_ptr<config::Table> read_experiment(const std::string& path, InputFiles& files,
                                                             config::Diagnostics& diagnostics,
                                                             std::string_view expected = "an experiment");
/// Machine, model and recipe by name replaced by what their files say.
void inline_all(config::Table& root, const SearchPath& search, config::Diagnostics& diagnostics);
/// A machine that is a template replaced by what it comes to; one that is forbidden stays, and whoever builds it says
/// so again.
void expand_machine(config::Table& root, config::Diagnostics& diagnostics);
/// An experiment without a title is called after its file, in its resolved text as well: that may lie elsewhere.
void name_untitled(config::Table& root, const std::string& path);

/// Fills in the defaults of all layers, and brings the tables into the order of docs/experiments.md.
[[nodiscard]] std::shared_ptr<config::Table> complete(const config::Table& root, const Parts& parts);

// The tables that this layer owns.
/// Measured jobs of one recipe, device and kind of model, beside what was simulated of them.
struct MeasuredJobs {
  std::string recipe, device;
  bool experts = false;             ///< of models with experts, or without
  std::int64_t jobs = 0;            ///< how many were measured
  double mean = 0.0, greatest = 0;  ///< absolute deviation, %
};
struct Head {
  std::string title;
  std::vector<MeasuredJobs> measured;  ///< of the recipe, for calibrated machines
};
[[nodiscard]] const config::Schema<Head>& head_schema();
/// Of a file in recipes/: what a software stack does, whatever the job.
struct Recipe {
  std::string source;
};
[[nodiscard]] const config::Schema<Recipe>& recipe_schema();
[[nodiscard]] const config::Schema<Record>& record_schema();
[[nodiscard]] const config::Schema<SimulationSettings>& simulation_schema();
[[nodiscard]] const config::Schema<TrainingSettings>& training_schema();

}  // namespace tessera::experiment
