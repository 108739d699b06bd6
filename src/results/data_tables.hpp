// Tables that whoever made the plan hands over as plain data, in files: results know nothing of what they say.
#pragma once

#include <string>
#include <vector>

#include "h5/file.hpp"
#include "h5/reader.hpp"
#include "tessera/base/data_table.hpp"

namespace tessera::results {

/// Each as the dataset of its name, with a checksum.
void add_data_tables(h5::File& file, const std::vector<DataTable>& tables);

/// Names of those in a file, sorted: of all tables in its root what are not the file's own.
[[nodiscard]] std::vector<std::string> data_tables_of(const h5::Reader& file);

/// One of them, or any other table of a file. Integers of any size come as int64.
[[nodiscard]] DataTable read_data_table(const h5::Reader& file, const std::string& name);

}  // namespace tessera::results
