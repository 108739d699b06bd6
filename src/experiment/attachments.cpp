// Files that keys of a strategy and a cost model name: read once, by rank 0, and known by their hashes.
#include <fmt/format.h>

#include "tessera/base/error.hpp"
#include "tessera/base/hash.hpp"
#include "tessera/base/text.hpp"
#include "tessera/results/results.hpp"
#include "tree.hpp"

namespace tessera::experiment {
namespace {

namespace fs = std::filesystem;
using config::Table;
using config::Value;

constexpr std::size_t most_attached_bytes = std::size_t{1} << 30U;

std::string hash_text(const std::string& content) { return fmt::format("{:016x}", hash_of(content)); }

/// Relative to the file that the value stands in; values of the command line to the current folder. Whole, so that a
/// plan or a resolved experiment means the same file wherever it lies.
fs::path path_of(const Value& value, InputFiles& files) {
  std::error_code ignored;
  const fs::path file = value.where().file;
  const fs::path given = *value.string();
  const fs::path found = files.is_file(file) ? file.parent_path() / given : given;
  return fs::absolute(found, ignored).lexically_normal();
}

/// Of the kind that the table names with `key`; null: none is named, or none has that name.
template <class Kinds>
const config::SchemaBase* schema_of(const Table& table, const std::string& key, const Kinds& kinds) {
  const Value* name = table.find(key);
  if (name == nullptr || name->string() == nullptr) return nullptr;
  const auto kind = std::ranges::find(kinds, *name->string(), &Kinds::value_type::name);
  return kind == kinds.end() ? nullptr : &kind->schema();
}

/// Null, and why is reported: it cannot be read.
std::optional<Attachment> read(const std::string& key, const Value& value, InputFiles& files,
                               config::Diagnostics& diagnostics) {
  if (value.string()->find('\0') != std::string::npos) {
    diagnostics.error(value.where(), "\"" + key + "\": a file's name ends at a zero byte");
    return std::nullopt;
  }
  const fs::path path = path_of(value, files);
  try {
    std::optional<std::string> content = files.read(path, most_attached_bytes);
    if (!content) throw InputError(one_line(path.string()) + ": there is no such file");
    std::string hash = hash_text(*content);
    return Attachment{key, path.string(), std::move(hash), std::move(*content)};
  } catch (const Error& error) {
    diagnostics.error(value.where(), fmt::format("\"{}\": {}", key, error.what()));
  }
  return std::nullopt;
}

/// Reads the files of one table after another.
class Reading {
 public:
  Reading(Table& resolved, InputFiles& files, config::Diagnostics& diagnostics)
      : resolved_(resolved), noted_(resolved.find("attachments")), files_(files), diagnostics_(diagnostics) {}

  template <class Kinds>
  void add(const std::string& of, const std::string& kind_key, const Kinds& kinds) {
    Value* found = resolved_.find(of);
    if (found == nullptr || found->table() == nullptr) return;
    Table& table = *found->table();
    const config::SchemaBase* schema = schema_of(table, kind_key, kinds);
    if (schema == nullptr) return;
    for (const std::string& key : schema->file_keys()) add_file(table, key);
  }

  std::vector<Attachment> done() {
    resolved_.erase("attachments");
    if (!found_.empty()) resolved_.set("attachments", {hashes_, hashes_->where()});
    return std::move(found_);
  }

 private:
  void add_file(Table& table, const std::string& key) {
    const Value* value = table.find(key);
    if (value == nullptr || value->string() == nullptr || value->string()->empty()) return;
    std::optional<Attachment> file = read(key, *value, files_, diagnostics_);
    if (!file) return;
    const Value* known = noted_ == nullptr || noted_->table() == nullptr ? nullptr : noted_->table()->find(key);
    if (known != nullptr && (known->string() == nullptr || *known->string() != file->hash))
      diagnostics_.error(known->where(),
                         fmt::format("\"{}\" is not the file that this experiment was resolved with: its "
                                     "hash is {}",
                                     one_line(file->path), file->hash));
    hashes_->set(key, {file->hash, value->where()});
    table.set(key, {file->path, value->where(), value->key_where()});
    found_.push_back(std::move(*file));
  }

  Table& resolved_;
  const Value* noted_;
  InputFiles& files_;
  config::Diagnostics& diagnostics_;
  std::shared_ptr<Table> hashes_ = std::make_shared<Table>(resolved_.where());
  std::vector<Attachment> found_;
};

}  // namespace

std::vector<Attachment> attach(Table& resolved, const strategy::Strategies& strategies, InputFiles& input_files,
                               config::Diagnostics& diagnostics) {
  Reading reading(resolved, input_files, diagnostics);
  reading.add("strategy", "name", strategies);
  reading.add("cost", "model", workload::cost_model_kinds());
  return reading.done();
}

Tensors tensors_of(const Attachment& file) {
  if (!results::is_hdf5(file.content)) throw InputError(one_line(file.path) + " is not a policy (tessera train)");
  try {
    return results::read_policy(file.path, file.content).policy;
  } catch (const Error& error) {
    throw InputError(fmt::format("\"{}\": {}", file.key, error.what()));
  }
}

std::vector<std::string> changed_files(const std::vector<Attachment>& files) {
  std::vector<std::string> changed;
  for (const Attachment& file : files) {
    std::error_code ignored;
    if (fs::exists(file.path, ignored) && !fs::is_regular_file(file.path, ignored)) continue;  // a pipe is read once
    try {
      const auto content = read_file(file.path, most_attached_bytes);
      if (content && hash_text(*content) == file.hash) continue;
    } catch (const Error&) {  // gone, or no longer readable: not what it was
    }
    changed.push_back(one_line(file.path) + " has changed since it was read: results are of what it was");
  }
  return changed;
}

}  // namespace tessera::experiment
