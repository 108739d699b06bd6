// The file of tessera train: a policy's tensors, what is said about them, and how they came about.
#include <algorithm>

#include "data_tables.hpp"
#include "h5/file.hpp"
#include "h5/reader.hpp"
#include "run_tables.hpp"
#include "small_tables.hpp"
#include "tessera/base/error.hpp"
#include "tessera/results/results.hpp"
#include "whole_file.hpp"

namespace tessera::results {
namespace {

constexpr std::string_view signature = "\x89HDF\r\n\x1a\n";

void add_matrix(h5::File& file, const Tensor& tensor) {
  const std::string path = "/tensors/" + tensor.name;
  file.matrix(path, tensor.values, tensor.rows, tensor.columns, tensor.description);
  file.checksum(
      path, crc32_of(reinterpret_cast<const std::byte*>(tensor.values.data()), tensor.values.size() * sizeof(float)));
}

void add_policy(h5::File& file, const PolicyFile& policy, const Provenance& provenance) {
  file.attribute("/", "format", policy_format_name);
  file.attribute("/", "schema_version", schema_version);
  file.attribute("/", "title", policy.title);
  file.attribute("/", "machine", policy.machine);
  file.attribute("/", "strategy", policy.strategy);
  file.attribute("/", "description", "A policy that tessera train has learnt; see docs/results.md.");
  add_provenance(file, provenance);
  file.group("/notes", "What the tensors are for.");
  for (const auto& [name, text] : policy.policy.notes) add_text(file, "/notes/" + name, text, "Of the policy.");
  file.group("/tensors", "What it has learnt.");
  for (const Tensor& tensor : policy.policy.all) add_matrix(file, tensor);
  add_data_tables(file, policy.tables);
}

PolicyFile policy_of(const h5::Reader& reader) {
  PolicyFile policy;
  policy.title = reader.attribute("title");
  policy.machine = reader.attribute("machine");
  policy.strategy = reader.attribute("strategy");
  for (const std::string& name : reader.members("/notes"))
    policy.policy.notes.emplace_back(name, reader.text("/notes/" + name).value);
  for (const std::string& name : reader.members("/tensors")) {
    h5::Reader::Matrix matrix = reader.matrix("/tensors/" + name);
    policy.policy.all.push_back(
        {name, std::move(matrix.description), matrix.rows, matrix.columns, std::move(matrix.values)});
  }
  for (const std::string& name : data_tables_of(reader)) policy.tables.push_back(read_data_table(reader, name));
  return policy;
}

}  // namespace

bool is_hdf5(const std::string& bytes) { return bytes.starts_with(signature); }

void write_policy(const std::string& path, const PolicyFile& policy, const Provenance& provenance,
                  const Replacing& replacing) {
  check_tables(policy.tables);
  write_whole_file(
      path, {}, [&](h5::File& file) { add_policy(file, policy, provenance); }, replacing);
}

PolicyFile read_policy(const std::string& path) {
  return policy_of(h5::Reader(path, Checking::all, h5::FileKind::policy));
}

PolicyFile read_policy(const std::string& path, const std::string& bytes) {
  return policy_of(h5::Reader(path, bytes, Checking::all, h5::FileKind::policy));
}

}  // namespace tessera::results
