// Schemas: reading, printing and documenting all fields of one table.
#include "open_keys.hpp"
#include "tessera/base/config.hpp"
#include "tessera/base/error.hpp"
#include "tessera/base/foreign_words.hpp"

namespace tessera::config {
namespace {

/// What is said of a key that the section at `path` does not have.
std::string instead_of(const std::string& key, const std::string& path, const std::vector<std::string>& known) {
  if (const std::string foreign = foreign_hint(key, path); !foreign.empty()) return foreign;
  const std::string guess = did_you_mean(key, known);
  return guess.empty() ? "allowed: " + listed(known) : "did you mean \"" + guess + "\"?";
}

}  // namespace

SchemaBase::SchemaBase(std::string path, std::string help) : path_(std::move(path)), help_(std::move(help)) {}
SchemaBase::~SchemaBase() = default;
SchemaBase::SchemaBase(SchemaBase&&) noexcept = default;
SchemaBase& SchemaBase::operator=(SchemaBase&&) noexcept = default;

FieldHandle SchemaBase::add(std::unique_ptr<detail::FieldBase> field) {
  for (const auto& present : fields_) {
    if (present->key() == field->key())
      throw InternalError("schema " + path_ + " declares \"" + field->key() + "\" twice");
  }
  fields_.push_back(std::move(field));
  return FieldHandle(*fields_.back());
}

void SchemaBase::also_accept(const std::string& key, const std::string& help) { accepted_.emplace_back(key, help); }

std::vector<ParameterHelp> SchemaBase::parameters() const {
  std::vector<ParameterHelp> result;
  for (const auto& [key, help] : accepted_) result.push_back({key, "", "", "", "", help});
  for (const auto& field : fields_) result.push_back(field->help());
  return result;
}

std::vector<std::string> SchemaBase::file_keys() const {
  std::vector<std::string> keys;
  for (const auto& field : fields_)
    if (field->names_file()) keys.push_back(field->key());
  return keys;
}

void SchemaBase::report_unknown_keys(const Table& table, Diagnostics& diagnostics) const {
  std::vector<std::string> known;
  for (const auto& accepted : accepted_) known.push_back(accepted.first);
  for (const auto& field : fields_) known.push_back(field->key());
  for (const auto& [key, value] : table.entries()) {
    if (std::find(known.begin(), known.end(), key) != known.end()) continue;
    diagnostics.error(value.key_where(),
                      "unknown key \"" + key + "\" in [" + path_ + "], " + instead_of(key, path_, known));
  }
}

void SchemaBase::read_into(void* object, const Table& table, Diagnostics& diagnostics) const {
  report_unknown_keys(table, diagnostics);
  for (const auto& field : fields_) {
    if (const Value* value = table.find(field->key())) {
      if (is_open(*field, *value)) {
        read_open(*field, object, *value, diagnostics);
      } else {
        field->read(object, *value, diagnostics);
      }
    } else if (const auto& fallback = field->fallback()) {
      field->read(object, relocated(*fallback, table.where()), diagnostics);
    } else if (!field->optional()) {
      diagnostics.error(table.where(),
                        "missing key \"" + field->key() + "\" in [" + path_ + "], expected " +
                            (field->names_file() ? "the name of a file: " + field->help().help : field->expectation()));
    }
  }
}

void SchemaBase::write_from(const void* object, const void* initial, Table& table) const {
  for (const auto& field : fields_) {
    if (field->optional() && field->is_initial(object, initial)) continue;
    table.set(field->key(), field->write(object, initial));
  }
}

bool SchemaBase::is_initial(const void* object, const void* initial) const {
  return std::all_of(fields_.begin(), fields_.end(),
                     [&](const auto& field) { return field->is_initial(object, initial); });
}

void SchemaBase::complete(Table& table) const {
  for (const auto& field : fields_) {
    if (table.find(field->key()) == nullptr) {
      if (!field->fallback()) continue;
      table.set(field->key(), relocated(*field->fallback(), table.where()));
    }
    field->complete(*table.find(field->key()));
  }
}

FieldHandle& FieldHandle::at_least(const std::string& bound) {
  state_->set_minimum(bound);
  return *this;
}

FieldHandle& FieldHandle::at_most(const std::string& bound) {
  state_->set_maximum(bound);
  return *this;
}

FieldHandle& FieldHandle::otherwise(const std::string& fallback) {
  state_->set_fallback(fallback);
  return *this;
}

FieldHandle& FieldHandle::optional() {
  state_->set_optional();
  return *this;
}

FieldHandle& FieldHandle::names_file() {
  state_->set_names_file();
  return *this;
}

FieldHandle& FieldHandle::may_be_open() {
  state_->set_may_be_open();
  return *this;
}

namespace detail {

void FieldBase::set_minimum(const std::string& bound) { misuse("takes no lower bound (" + bound + ")"); }

void FieldBase::set_maximum(const std::string& bound) { misuse("takes no upper bound (" + bound + ")"); }

void FieldBase::set_fallback(const std::string& fallback) {
  fallback_text_ = fallback;
  fallback_ = parse_fallback(fallback);
}

void FieldBase::set_optional() { optional_ = true; }

void FieldBase::misuse(const std::string& what) const {
  throw InternalError("declaration of parameter \"" + key_ + "\": " + what);
}

ParameterHelp FieldBase::help() const {
  ParameterHelp result = describe();
  result.name = key_;
  result.help = help_;
  if (names_file_) result.type = "name of a file, relative to the one that it stands in";
  if (may_be_open_) result.type += ", a list of them, or \"any\"";
  result.fallback = fallback_   ? (fallback_text_.empty() ? "\"\"" : fallback_text_)
                    : optional_ ? "optional"
                                : "required";
  return result;
}

void FieldBase::read_nested(const SchemaBase& schema, void* object, const Table& table, Diagnostics& diagnostics) {
  schema.read_into(object, table, diagnostics);
}

void FieldBase::write_nested(const SchemaBase& schema, const void* object, const void* initial, Table& table) {
  schema.write_from(object, initial, table);
}

bool FieldBase::is_initial_nested(const SchemaBase& schema, const void* object, const void* initial) {
  return schema.is_initial(object, initial);
}

}  // namespace detail
}  // namespace tessera::config
