// Partitions of an operator as sequences of primitives: their text, what is refused, how many there are.
#include "strategy/primepar/cuts/partition.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <set>

#include "tessera/base/error.hpp"

using namespace tessera;
using namespace tessera::strategy::primepar;
using Catch::Matchers::Contains;

namespace {

Operator fc2() { return linear("fc2", 64, 64, 64, 64); }

std::string problem(const std::string& text, int bits, const Operator& op = fc2()) {
  try {
    check_partition(op, parse_partition(op, text), bits);
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

std::vector<std::size_t> counts(const Operator& op, int most_bits) {
  std::vector<std::size_t> found;
  for (int bits = 0; bits <= most_bits; ++bits) found.push_back(all_partitions(op, bits).size());
  return found;
}

}  // namespace

TEST_CASE("primepar: a partition's text is read and written") {
  const Operator op = fc2();
  const Partition partition = parse_partition(op, "{N, P(2x2)}");
  CHECK(partition == Partition{cut(2), square(1)});
  CHECK(bits_of(partition) == 3);
  CHECK(to_text(op, partition) == "{N, P(2x2)}");
  CHECK(parse_partition(op, " { B,M ,P(16x16), K } ") == Partition{cut(0), cut(1), square(4), cut(3)});
  CHECK(parse_partition(op, "{}").empty());
  CHECK(to_text(op, {}) == "{}");
  for (const Partition& one : all_partitions(op, 4)) CHECK(parse_partition(op, to_text(op, one)) == one);
}

TEST_CASE("primepar: text that is no partition is refused with what could stand there") {
  CHECK_THAT(problem("N, P(2x2)", 3), Contains("operator fc2: partition \"N, P(2x2)\": not a list in braces"));
  CHECK_THAT(problem("", 0), Contains("braces"));
  CHECK_THAT(problem("{", 0), Contains("braces"));
  CHECK_THAT(problem("{N, H}", 2), Contains("\"H\" is none of B, M, N, K, P(2x2), P(4x4), P(8x8), ..."));
  for (const char* item : {"", "n", "NN", "P", "P()", "P(2)", "P(2x4)", "P(3x3)", "P(1x1)", "P(0x0)", "P(-2x-2)",
                           "P(2x2", "P(2ax2a)", "P(+2x+2)", "P(4294967298x4294967298)", "P(65536x65536)", "P(x)"}) {
    CAPTURE(item);
    CHECK_THAT(problem(std::string("{N,") + item + "}", 3), Contains(std::string("\"") + item + "\" is none of"));
  }
  CHECK_THAT(problem("{N,}", 1), Contains("\"\" is none of"));
  CHECK_THAT(problem("{,}", 1), Contains("\"\" is none of"));
}

TEST_CASE("primepar: the partitions of all layers are read and written in runs") {
  const Operator op = fc2();
  const Partition n{cut(2), square(1)}, k{cut(3), cut(3), cut(3)};
  CHECK(parse_layers(op, "{N, P(2x2)}", 3) == std::vector<Partition>{n, n, n});
  CHECK(layers_text(op, {n, n, n}) == "{N, P(2x2)}");
  CHECK(layers_text(op, {n, n, k, n}) == "2 x {N, P(2x2)}, {K, K, K}, {N, P(2x2)}");
  CHECK(parse_layers(op, " 2x{N,P(2x2)} , {K,K,K},{N,P(2x2)}", 4) == std::vector<Partition>{n, n, k, n});
  const auto refused = [&](const std::string& text, std::int64_t layers) {
    try {
      static_cast<void>(parse_layers(op, text, layers));
    } catch (const InputError& error) {
      return std::string(error.what());
    }
    return std::string("accepted");
  };
  CHECK_THAT(refused("2 x {N}, {K}", 4), Contains("is for 3 layers, and there are 4"));
  CHECK_THAT(refused("0 x {N}, {K}", 1), Contains("\"0x\" is no count of layers"));
  CHECK_THAT(refused("9 x {N}", 4), Contains("\"9x\" is no count of layers, such as \"2 x\", up to the 4 of a stage"));
  CHECK_THAT(refused("2 {N}, {K}", 3), Contains("\"2\" is no count of layers"));
  CHECK_THAT(refused("{N} {K}", 2), Contains("separated by commas"));
  CHECK_THAT(refused("{N}, {K},", 2), Contains("separated by commas"));
  CHECK_THAT(refused("{N}, }K{", 2), Contains("not partitions in braces"));
  CHECK_THAT(refused("{N}, {K", 2), Contains("not partitions in braces"));
  CHECK_THAT(refused("  ", 2), Contains("braces"));
}

TEST_CASE("primepar: a partition uses all bits of the device id, and cuts nothing below one element") {
  CHECK(problem("{N, P(2x2)}", 3).empty());
  CHECK_THAT(problem("{N, P(2x2)}", 4), Contains("uses 3 bits of the device id, and 16 devices have 4"));
  CHECK_THAT(problem("{P(4x4)}", 3), Contains("uses 4 bits of the device id, and 8 devices have 3"));
  const Operator narrow = linear("narrow", 1, 8, 3, 8);
  CHECK(problem("{N}", 1, narrow).empty());
  CHECK_THAT(problem("{B}", 1, narrow), Contains("dimension B (1 elements) would be cut into 2 slices"));
  CHECK_THAT(problem("{N, P(2x2)}", 3, narrow), Contains("dimension N (3 elements) would be cut into 4 slices"));
  CHECK_THROWS_WITH(linear("empty", 1, 0, 1, 1), Contains("operator empty: dimension M has 0 elements"));
}

TEST_CASE("primepar: devices are a power of two") {
  CHECK(device_bits(1) == 0);
  CHECK(device_bits(16) == 4);
  for (const std::int64_t devices : {0, -1, -8, 3, 12, 17})
    CHECK_THROWS_WITH(device_bits(devices), Contains(std::to_string(devices) + " devices: "));
  CHECK_THROWS_AS(device_bits(std::int64_t{1} << 40), InputError);
}

TEST_CASE("primepar: as many sequences as the recurrence counts") {
  // f(n) = D f(n-1) + f(n-2) + f(n-4) + ..., by hand for D = 4: 4; 4*4 + 1 = 17; 4*17 + 4 = 72;
  // 4*72 + 17 + 1 = 306; 4*306 + 72 + 4 = 1300. The known 306 on 16 devices and 1,300 on 32 are met.
  CHECK(counts(fc2(), 5) == std::vector<std::size_t>{1, 4, 17, 72, 306, 1300});
  // Heads beside the batch, D = 5: 5; 26; 135; 702; 5*702 + 135 + 5 = 3650, the known count of a matmul of attention.
  Operator matmul = fc2();
  matmul.dimensions.push_back({"H", 64});
  CHECK(counts(matmul, 5) == std::vector<std::size_t>{1, 5, 26, 135, 702, 3650});
}

TEST_CASE("primepar: sequences are listed once each, in order, and only legal ones") {
  const Operator op = fc2();
  const std::vector<Partition> all = all_partitions(op, 4);
  CHECK(std::is_sorted(all.begin(), all.end()));
  CHECK(std::set<Partition>(all.begin(), all.end()).size() == all.size());
  CHECK(to_text(op, all.front()) == "{B, B, B, B}");
  CHECK(to_text(op, all.back()) == "{P(4x4)}");

  // A batch of one is never cut: D = 3, 110 on 16 devices. Three columns allow one halving of K.
  CHECK(all_partitions(linear("one", 1, 64, 64, 64), 4).size() == 110);
  const Operator narrow = linear("narrow", 64, 64, 64, 3);
  std::size_t legal = 0;
  for (const Partition& one : all) legal += slice_counts(op, one)[3] <= 3 ? 1 : 0;
  CHECK(all_partitions(narrow, 4).size() == legal);
}
