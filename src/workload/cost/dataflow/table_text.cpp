// A table as text. Times are written as the bits that they have, so that a run that reads them is the run that worked
// them out.
#include <fmt/format.h>

#include <bit>
#include <sstream>

#include "table.hpp"
#include "tessera/base/hash.hpp"

namespace tessera::workload::dataflow {
namespace {

/// The names of the dataflows stand there, since answers have their numbers.
std::string head_of(const std::string& rest) {
  std::string names;
  for (const Dataflow& one : dataflows()) names += (names.empty() ? "" : ", ") + one.name;
  return fmt::format("Tessera: operators on cores, {}. Hash of what follows: {:016x}\n", names, hash_of(rest));
}

/// One list of members for both ways.
template <class Archive>
void write_or_read(Archive& archive, Question& q) {
  archive(q.batch)(q.m)(q.n)(q.k)(q.bytes_read)(q.bytes_written)(q.datatype);
  auto& [height, width, out_height, out_width, window_height, window_width, stride, pad, dilation] = q.convolution;
  archive(height)(width)(out_height)(out_width)(window_height)(window_width)(stride)(pad)(dilation);
  archive(q.clock)(q.memory)(q.link)(q.bank);
  machine::ArraySpec& array = q.array;
  std::int64_t sram = array.sram.value();
  archive(array.columns)(array.rows)(array.pe_columns)(array.pe_rows)(sram)(array.banks)(array.bank_bytes);
  archive(array.link_bytes);
  array.sram = Bytes{sram};
}

template <class Archive>
void write_or_read(Archive& archive, Answer::Of& of) {
  auto& [mapping, timed] = of.found;
  archive(of.dataflow);
  for (Side& side : mapping.order) archive(side);
  archive(mapping.spread.along_rows)(mapping.spread.along_columns);
  for (std::int64_t& side : mapping.tile) archive(side);
  Accesses& moved = timed.accesses;
  archive(timed.time)(timed.computing);
  archive(moved.input)(moved.weights)(moved.sums_read)(moved.sums_written)(moved.added)(moved.results);
}

class Writer {
 public:
  Writer& operator()(double value) { return (*this)(std::bit_cast<std::uint64_t>(value)); }
  Writer& operator()(Side side) { return (*this)(static_cast<std::uint64_t>(side)); }
  template <class T>
  Writer& operator()(const T& value) {
    out_ << value << ' ';
    return *this;
  }
  [[nodiscard]] std::string text() const { return out_.str(); }

 private:
  std::ostringstream out_;
};

class Reader {
 public:
  explicit Reader(const std::string& text) : in_(text) {}
  Reader& operator()(double& value) {
    std::uint64_t bits = 0;
    (*this)(bits);
    value = std::bit_cast<double>(bits);
    return *this;
  }
  Reader& operator()(Side& side) {
    unsigned value = 0;
    (*this)(value);
    if (value > of_k) in_.setstate(std::ios::failbit);
    side = static_cast<Side>(value);
    return *this;
  }
  template <class T>
  Reader& operator()(T& value) {
    in_ >> value;
    return *this;
  }
  [[nodiscard]] bool is_good() const { return !in_.fail(); }

 private:
  std::istringstream in_;
};

}  // namespace

std::string Table::text(bool own_alone) const {
  Writer writer;
  std::size_t count = 0;
  for (const auto& [question, known] : known_) count += own_alone && known.is_learnt ? 0 : 1;
  writer(count);
  for (const auto& [question, known] : known_) {
    if (own_alone && known.is_learnt) continue;
    Question key = question;
    write_or_read(writer, key);
    writer(known.answer.best)(known.answer.all.size());
    for (Answer::Of of : known.answer.all) write_or_read(writer, of);
  }
  if (count == 0) return {};
  const std::string rest = writer.text();
  return head_of(rest) + rest;
}

bool Table::learn(const std::string& text) {
  if (text.empty()) return true;
  const std::size_t end = text.find('\n');
  if (end == std::string::npos || text.substr(0, end + 1) != head_of(text.substr(end + 1))) return false;
  Reader reader(text.substr(end + 1));
  std::map<Question, Known> learnt;
  std::size_t count = 0;
  reader(count);
  for (std::size_t i = 0; i < count && reader.is_good(); ++i) {
    Question question;
    Known known{{}, true};
    std::size_t ways = 0;
    write_or_read(reader, question);
    reader(known.answer.best)(ways);
    if (!reader.is_good() || ways > dataflows().size() || known.answer.best >= ways) return false;
    known.answer.all.resize(ways);
    for (Answer::Of& of : known.answer.all) {
      write_or_read(reader, of);
      if (of.dataflow >= dataflows().size()) return false;
    }
    learnt.emplace(std::move(question), std::move(known));
  }
  if (!reader.is_good()) return false;
  known_.merge(learnt);
  return true;
}

}  // namespace tessera::workload::dataflow
