#include "frame.hpp"

#include <algorithm>
#include <cstring>
#include <string>
#include <string_view>

#include "checksum.hpp"
#include "failure.hpp"
#include "h5/types.hpp"

namespace tessera::results {
namespace {

template <class Row>
void add_small_table(h5::File& file, const Table<Row>& table, const std::vector<Row>& rows) {
  file.table(table.schema(), static_cast<std::int64_t>(rows.size()));
  std::vector<std::byte> packed(rows.size() * table.schema().row_bytes);
  for (std::size_t i = 0; i < rows.size(); ++i) table.pack(rows[i], packed.data() + i * table.schema().row_bytes);
  if (!rows.empty()) file.write(table.schema(), packed);
  file.checksum(table.schema().path, crc32_of(packed.data(), packed.size()));
}

std::vector<NameRow> name_rows(const std::vector<std::string>& names) {
  std::vector<NameRow> rows;
  for (const std::string& name : names) rows.push_back({static_cast<std::int64_t>(rows.size()), name});
  return rows;
}

void add_names(h5::File& file, const RunResults& r) {
  file.group("/names", "Names of what other tables give by index.");
  const auto add = [&](const std::string& path, const char* index, const char* what,
                       const std::vector<std::string>& names) {
    add_small_table(file, names_table(path, index, what, names), name_rows(names));
  };
  add("/names/activities", "activity", "What a device's time is counted as.", r.activities);
  add("/names/categories", "category", "What memory holds.", r.categories);
  add("/names/nodes", "node", "Nodes of the network: the machine's devices, then its switches.", r.node_names);
  add("/names/labels", "label", "What instructions are for.", r.labels);
}

void add_text(h5::File& file, const std::string& path, const std::string& value, const std::string& description) {
  const std::string stored = value.empty() ? std::string(1, '\0') : value;  // no type of 0 bytes
  file.text(path, stored, description);
  file.checksum(path, crc32_of(reinterpret_cast<const std::byte*>(stored.data()), stored.size()));
}

void add_provenance(h5::File& file, const Provenance& p) {
  file.group("/provenance", "What depends on how the run was carried out, and what it was asked for.");
  add_small_table(file, provenance_table(p), std::vector<Provenance>{p});
  add_text(file, "/provenance/command", p.command, "The command line.");
  add_text(file, "/provenance/calibration", p.calibration,
           "What the machine's rates come from: [machine.calibration], the experiment, or the data sheet alone.");
  add_text(file, "/provenance/experiment_given", p.experiment_given,
           "The experiment as given: the file and what --set changed.");
  add_text(file, "/provenance/experiment_resolved", p.experiment_resolved,
           "The experiment with every default and included file written out: a valid experiment itself.");
}

/// HDF5 keeps texts of attributes in blocks that begin so, and, unlike everything else of its own, have no checksum.
constexpr std::string_view text_block_mark{"GCOL\1\0\0\0", 8};
constexpr std::size_t text_block_header = 16;  ///< mark and size of the block

}  // namespace

Frame::Frame(const std::vector<BigTable>& big, const SummaryRow& summary, const std::vector<CollectiveRow>& collectives,
             const Provenance& provenance)
    : big_(&big), image_(std::make_unique<h5::Image>()), file_(h5::File::create(*image_)) {
  const RunResults& r = *summary.results;
  file_.attribute("/", "format", format_name);
  file_.attribute("/", "schema_version", schema_version);
  file_.attribute("/", "description",
                  "Results of one run of Tessera. Times are picoseconds, sizes bytes; see docs/results.md.");
  add_small_table(file_, summary_table(r), std::vector<SummaryRow>{summary});
  add_small_table(file_, collective_table(r), collectives);
  add_small_table(file_, plan_table(r), r.plan);
  if (!r.predicted.empty()) add_small_table(file_, predicted_table(r), r.predicted);
  add_names(file_, r);
  for (const BigTable& table : big) {
    file_.table(table.schema, table.layout.total);
    file_.checksum(table.schema.path, 0);  // its place; the value comes when the rows are written
    offsets_.push_back(table.layout.total > 0 ? file_.offset(table.schema.path) : 0);
  }
  add_provenance(file_, provenance);
  if (!r.search.empty()) add_small_table(file_, search_table(r), r.search);
  note_text_blocks();
  bytes_ = bytes();
}

void Frame::note_text_blocks() {
  file_.flush();
  std::vector<std::int64_t> blocks;
  for (const Part& part : parts()) {
    const std::vector<std::byte> bytes = bytes_of(part);
    const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    for (std::size_t at = 0; (at = text.find(text_block_mark, at)) != std::string_view::npos; ++at) {
      std::uint64_t size = 0;
      if (text.size() - at < text_block_header) break;
      std::memcpy(&size, bytes.data() + at + text_block_mark.size(), sizeof size);
      if (size <= text.size() - at) {
        blocks.insert(blocks.end(), {part.offset + static_cast<std::int64_t>(at), static_cast<std::int64_t>(size),
                                     crc32_of(bytes.data() + at, size)});
      }
    }
  }
  file_.attribute("/provenance", h5::text_blocks_attribute, blocks, 3);
  file_.attribute("/provenance", h5::file_bytes_attribute, 0);  // its place
  file_.flush();
  file_.attribute("/provenance", h5::file_bytes_attribute, bytes());
}

void Frame::finish(const std::vector<std::uint32_t>& checksums) {
  for (std::size_t i = 0; i < big_->size(); ++i) file_.checksum((*big_)[i].schema.path, checksums[i]);
  file_.close();
}

std::int64_t Frame::bytes() const { return bytes_ > 0 ? bytes_ : static_cast<std::int64_t>(image_->size()); }

std::vector<Frame::Part> Frame::parts() const {
  std::vector<Part> holes;
  for (std::size_t i = 0; i < offsets_.size(); ++i) {
    const BigTable& table = (*big_)[i];
    holes.push_back({offsets_[i], table.layout.total * static_cast<std::int64_t>(table.schema.row_bytes)});
  }
  std::sort(holes.begin(), holes.end(), [](const Part& a, const Part& b) { return a.offset < b.offset; });
  holes.push_back({bytes(), 0});
  std::vector<Part> parts;
  std::int64_t at = 0;
  for (const Part& hole : holes) {
    if (hole.offset > at) parts.push_back({at, hole.offset - at});
    at = std::max(at, hole.offset + hole.count);
  }
  return parts;
}

std::vector<std::byte> Frame::bytes_of(const Part& part) const {
  std::vector<std::byte> bytes(static_cast<std::size_t>(part.count));
  image_->read(static_cast<std::uint64_t>(part.offset), bytes.data(), bytes.size());
  return bytes;
}

void Frame::write(DiskFile& file) const {
  for (const Part& part : parts()) {
    const std::vector<std::byte> bytes = bytes_of(part);
    file.write(part.offset, bytes.data(), bytes.size());
  }
}

void Frame::compare(const DiskFile& file) const {
  for (const Part& part : parts()) {
    std::vector<std::byte> found(static_cast<std::size_t>(part.count));
    file.read(part.offset, found.data(), found.size());
    if (found != bytes_of(part)) throw Failure("the file reads back otherwise than it was written");
  }
}

}  // namespace tessera::results
