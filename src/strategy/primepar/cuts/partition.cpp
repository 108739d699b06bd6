#include "partition.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <optional>

#include "tessera/base/error.hpp"

namespace tessera::strategy::primepar {
namespace {

constexpr int max_bits = 30;  // of a device id

std::string primitive_text(const Operator& op, const Primitive& primitive) {
  if (!primitive.is_square()) return op.dimensions[static_cast<std::size_t>(primitive.dimension)].name;
  const int side = 1 << primitive.log_side;
  return fmt::format("P({0}x{0})", side);
}

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

std::string without_blanks(std::string_view text) {
  std::string kept;
  std::copy_if(text.begin(), text.end(), std::back_inserter(kept), [](char c) { return !is_blank(c); });
  return kept;
}

[[noreturn]] void refuse(const Operator& op, std::string_view text, const std::string& why) {
  std::string line(text);
  std::replace_if(line.begin(), line.end(), is_blank, ' ');
  throw InputError(fmt::format("operator {}: partition \"{}\": {}", op.name, line, why));
}

/// "2x2" of P(2x2): both sides the same power of two from 2 on.
std::optional<Primitive> parse_square(std::string_view sides) {
  const std::size_t x = sides.find('x');
  if (x == std::string_view::npos || sides.substr(0, x) != sides.substr(x + 1)) return std::nullopt;
  std::uint32_t side = 0;
  const auto [end, failure] = std::from_chars(sides.data(), sides.data() + x, side);
  if (failure != std::errc{} || end != sides.data() + x || side < 2 || !std::has_single_bit(side)) return std::nullopt;
  const int log_side = std::countr_zero(side);
  return 2 * log_side <= max_bits ? std::optional(square(log_side)) : std::nullopt;
}

Primitive parse_primitive(const Operator& op, std::string_view text, std::string_view item) {
  for (int i = 0; i < op.dimension_count(); ++i) {
    const Dimension& dimension = op.dimensions[static_cast<std::size_t>(i)];
    if (dimension.name == item && !dimension.whole) return cut(i);
  }
  if (op.has_squares() && item.starts_with("P(") && item.ends_with(")")) {
    if (const auto parsed = parse_square(item.substr(2, item.size() - 3))) return *parsed;
  }
  std::string names;
  for (const Dimension& dimension : op.dimensions) {
    if (!dimension.whole) names += (names.empty() ? "" : ", ") + dimension.name;
  }
  refuse(op, text,
         fmt::format("\"{}\" is none of {}{}", item, names, op.has_squares() ? ", P(2x2), P(4x4), P(8x8), ..." : ""));
}

/// Of the first dimension that has more slices than elements.
std::optional<std::string> cut_problem(const Operator& op, const Partition& partition) {
  const std::vector<std::int64_t> counts = slice_counts(op, partition);
  for (std::size_t i = 0; i < counts.size(); ++i) {
    const Dimension& dimension = op.dimensions[i];
    if (dimension.whole && counts[i] > 1) return fmt::format("dimension {} is never cut", dimension.name);
    if (counts[i] > dimension.extent)
      return fmt::format("dimension {} ({} elements) would be cut into {} slices", dimension.name, dimension.extent,
                         counts[i]);
  }
  return std::nullopt;
}

void extend(const Operator& op, int bits, Partition& prefix, std::vector<Partition>& found) {
  if (cut_problem(op, prefix)) return;
  if (bits == 0) return found.push_back(prefix);
  const auto with = [&](const Primitive& next) {
    prefix.push_back(next);
    extend(op, bits - next.bits(), prefix, found);
    prefix.pop_back();
  };
  for (int i = 0; i < op.dimension_count(); ++i) with(cut(i));
  for (int k = 1; op.has_squares() && 2 * k <= bits; ++k) with(square(k));
}

}  // namespace

bool has_square(const Partition& partition) { return std::ranges::any_of(partition, &Primitive::is_square); }

int bits_of(const Partition& partition) {
  int bits = 0;
  for (const Primitive& primitive : partition) bits += primitive.bits();
  return bits;
}

int device_bits(std::int64_t devices) {
  if (devices < 1 || !std::has_single_bit(static_cast<std::uint64_t>(devices)) ||
      devices > (std::int64_t{1} << max_bits))
    throw InputError(
        fmt::format("{} devices: a partition needs a power of two of them, up to 2^{}", devices, max_bits));
  return std::countr_zero(static_cast<std::uint64_t>(devices));
}

std::string to_text(const Operator& op, const Partition& partition) {
  std::string text;
  for (const Primitive& primitive : partition) text += (text.empty() ? "" : ", ") + primitive_text(op, primitive);
  return "{" + text + "}";
}

Partition parse_partition(const Operator& op, std::string_view text) {
  const std::string kept = without_blanks(text);
  if (kept.size() < 2 || kept.front() != '{' || kept.back() != '}')
    refuse(op, text, "not a list in braces, such as {N, P(2x2)}");
  const std::string_view items = std::string_view(kept).substr(1, kept.size() - 2);
  Partition partition;
  for (std::size_t begin = 0; !items.empty() && begin <= items.size();) {
    const std::size_t end = std::min(items.find(',', begin), items.size());
    partition.push_back(parse_primitive(op, text, items.substr(begin, end - begin)));
    begin = end + 1;
  }
  return partition;
}

std::string layers_text(const Operator& op, const std::vector<Partition>& layers) {
  const auto all_alike = std::all_of(layers.begin(), layers.end(), [&](const auto& one) { return one == layers[0]; });
  if (all_alike) return to_text(op, layers.front());
  std::string text;
  for (std::size_t layer = 0, count = 1; layer < layers.size(); layer += count) {
    for (count = 1; layer + count < layers.size() && layers[layer + count] == layers[layer];) ++count;
    text += (text.empty() ? "" : ", ") + (count > 1 ? fmt::format("{} x ", count) : "") + to_text(op, layers[layer]);
  }
  return text;
}

namespace {

/// "95x" before a partition, or nothing: 1.
std::int64_t parse_count(const Operator& op, std::string_view text, std::string_view count, std::int64_t layers) {
  if (count.empty()) return 1;
  std::int64_t found = 0;
  const auto [end, failure] = std::from_chars(count.data(), count.data() + count.size(), found);
  if (failure != std::errc{} || end + 1 != count.data() + count.size() || *end != 'x' || found < 1 || found > layers)
    refuse(op, text,
           fmt::format("\"{}\" is no count of layers, such as \"2 x\", up to the {} of a stage", count, layers));
  return found;
}

}  // namespace

std::vector<Partition> parse_layers(const Operator& op, std::string_view text, std::int64_t layers) {
  const std::string kept = without_blanks(text);
  const bool several = std::count(kept.begin(), kept.end(), '{') > 1 || kept.find_first_of("0123456789") == 0;
  if (!several) return std::vector<Partition>(static_cast<std::size_t>(layers), parse_partition(op, text));
  std::vector<Partition> found;
  for (std::string_view left = kept; !left.empty();) {
    const std::size_t open = left.find('{'), close = left.find('}');
    if (open == std::string_view::npos || close == std::string_view::npos || close < open)
      refuse(op, text,
             "not partitions in braces, each with a count of layers before it, such as 2 x {N, P(2x2)}, {N, N}");
    const std::int64_t count = parse_count(op, text, left.substr(0, open), layers);
    found.insert(found.end(), static_cast<std::size_t>(count),
                 parse_partition(op, left.substr(open, close + 1 - open)));
    left.remove_prefix(close + 1);
    if (left.empty()) break;
    if (left.front() != ',' || left.size() == 1) refuse(op, text, "partitions are separated by commas");
    left.remove_prefix(1);
  }
  if (static_cast<std::int64_t>(found.size()) != layers)
    refuse(op, text, fmt::format("is for {} layers, and there are {}", found.size(), layers));
  return found;
}

void check_partition(const Operator& op, const Partition& partition, int bits) {
  const auto is_square = [](const Primitive& primitive) { return primitive.is_square(); };
  if (!op.has_squares() && std::any_of(partition.begin(), partition.end(), is_square))
    refuse(op, to_text(op, partition), "P cuts products alone");
  const int used = bits_of(partition);
  if (used != bits)
    refuse(op, to_text(op, partition),
           fmt::format("uses {} bits of the device id, and {} devices have {}", used, std::int64_t{1} << bits, bits));
  if (const auto problem = cut_problem(op, partition)) refuse(op, to_text(op, partition), *problem);
}

std::vector<Partition> all_partitions(const Operator& op, int bits) {
  std::vector<Partition> found;
  Partition prefix;
  extend(op, bits, prefix, found);
  return found;
}

std::vector<std::int64_t> slice_counts(const Operator& op, const Partition& partition) {
  std::vector<std::int64_t> counts(op.dimensions.size(), 1);
  for (const Primitive& primitive : partition) {
    if (primitive.is_square()) {
      for (const int dimension : {op.rows, op.contracted, op.columns})
        counts[static_cast<std::size_t>(dimension)] <<= primitive.log_side;
    } else {
      counts[static_cast<std::size_t>(primitive.dimension)] *= 2;
    }
  }
  return counts;
}

}  // namespace tessera::strategy::primepar
