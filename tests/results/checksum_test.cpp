// CRC-32 against its published check value, of parts in any order against the whole, and of the tables of a file.
#include <catch2/catch.hpp>
#include <cstring>

#include "../../src/results/big_table.hpp"
#include "../../src/results/checksum.hpp"
#include "../../src/results/disk_file.hpp"
#include "../../src/results/verify.hpp"
#include "folder.hpp"
#include "sample.hpp"
#include "support/message_of.hpp"
#include "tessera/base/error.hpp"

using namespace tessera;
using namespace tessera::results;
using tessera::test::message_of;

namespace {

std::vector<std::byte> bytes_of(const std::string& text) {
  std::vector<std::byte> bytes(text.size());
  std::memcpy(bytes.data(), text.data(), text.size());
  return bytes;
}

/// Why the file cannot be read.
std::string damage_of(const std::string& path) {
  return message_of<IoError>([&] { (void)summary(path); });
}

/// Adds 1 to the last byte of `text` where it stands in the file for the first time.
void damage(const std::string& path, const std::string& text) {
  std::string bytes = sample::read_text(path);
  const std::size_t at = bytes.find(text);
  REQUIRE(at != std::string::npos);
  ++bytes[at + text.size() - 1];
  std::ofstream(path, std::ios::binary) << bytes;
}

}  // namespace

TEST_CASE("the check value of CRC-32") {
  // "CRC-32/ISO-HDLC" of the nine digits, in every catalogue of checksums.
  const auto digits = bytes_of("123456789");
  CHECK(crc32_of(digits.data(), digits.size()) == 0xCBF43926);
  CHECK(crc32_of(nullptr, 0) == 0);
}

TEST_CASE("the checksum of a whole from its parts, in any order") {
  // "1234" with 5 bytes behind it, "567" with 2, "89" with none.
  const auto digits = bytes_of("123456789");
  const std::uint32_t last = crc32_part(digits.data() + 7, 2, 0), first = crc32_part(digits.data(), 4, 5),
                      middle = crc32_part(digits.data() + 4, 3, 2), none = crc32_part(nullptr, 0, 9);
  CHECK((last ^ first ^ middle ^ none) == 0xCBF43926);
}

TEST_CASE("rows that did not reach the disk are found before the file gets its name") {
  // The tables one behind the other, as a file holds them; then one row of zeros, as a full disk leaves it.
  const sample::Folder folder;
  const auto comm = make_serial_communicator();
  const RunResults results = sample::make();
  const std::vector<BigTable> tables = big_tables(results, *comm);
  DiskFile file = DiskFile::create(folder / "rows");
  std::vector<std::int64_t> offsets;
  std::vector<std::uint32_t> checksums;
  std::int64_t end = 0;
  for (const BigTable& table : tables) {
    std::vector<std::byte> rows(static_cast<std::size_t>(table.layout.total) * table.schema.row_bytes);
    table.pack(0, table.layout.total, rows.data());
    file.write(end, rows.data(), rows.size());
    offsets.push_back(end);
    checksums.push_back(crc32_of(rows.data(), rows.size()));
    end += static_cast<std::int64_t>(rows.size());
  }
  const auto verify = [&] { verify_rows(folder / "rows", tables, offsets, checksums, true, *comm); };
  CHECK_NOTHROW(verify());
  REQUIRE(tables[1].schema.path == "/links");
  const std::vector<std::byte> zeros(tables[1].schema.row_bytes);
  file.write(offsets[1] + static_cast<std::int64_t>(zeros.size()), zeros.data(), zeros.size());
  CHECK_THROWS_WITH(verify(), "table /links reads back otherwise than it was written (a full or failing disk?)");
  std::filesystem::resize_file(folder / "rows", static_cast<std::uintmax_t>(end - 1));
  CHECK_THROWS_WITH(verify(), "the file ends early");
}

TEST_CASE("a damaged table is named") {
  const sample::Folder folder;
  const auto comm = make_serial_communicator();
  const std::string path = folder / "out.h5";
  write(path, sample::make(), sample::provenance(), *comm);
  REQUIRE(damage_of(path) == "no error");
  const auto named = [&](const std::string& table) {
    return "cannot read '" + path + "': table " + table + " is damaged: it differs from its checksum";
  };
  SECTION("a text in the summary") {
    damage(path, "eight-devices");
    CHECK(damage_of(path) == named("/summary"));
  }
  SECTION("a name") {
    damage(path, "nvswitch 0");
    CHECK(damage_of(path) == named("/names/nodes"));
  }
  SECTION("a number of a device: 1.01 s forward of device 1") {
    const std::int64_t forward = 1'010'000'000'000;
    damage(path, std::string(reinterpret_cast<const char*>(&forward), sizeof forward));
    CHECK(damage_of(path) == named("/devices"));
  }
  SECTION("the experiment") {
    damage(path, "seed = 7");
    CHECK(damage_of(path) == named("/provenance/experiment_resolved"));
  }
  SECTION("a description") {
    damage(path, "number of the device");
    CHECK(damage_of(path) ==
          "cannot read '" + path + "': the file is damaged: units and descriptions differ from their checksum");
  }
  SECTION("who has just written a file need not check it") {
    damage(path, "seed = 7");
    CHECK_NOTHROW(summary(path, Checking::none));
  }
}
