#include "tessera/machine/array.hpp"

namespace tessera::machine {

const config::Schema<ArraySpec>& array_spec_schema() {
  static const config::Schema<ArraySpec> schema = [] {
    config::Schema<ArraySpec> s("machine.device.array",
                                "Cores of a device on a mesh, each with an array of MACs and an SRAM: what cost model "
                                "dataflow needs to know (docs/dataflow.md).");
    const auto count = [&](const char* key, std::int64_t ArraySpec::*member, const char* help, const char* most) {
      return s.integer(key, member, help).at_least("1").at_most(most);
    };
    count("columns", &ArraySpec::columns, "of cores; columns x rows are the device's cores", "10000");
    count("rows", &ArraySpec::rows, "of cores; data from the memory enters at both ends of each", "10000");
    count("pe_columns", &ArraySpec::pe_columns, "of MACs in a core", "1000");
    count("pe_rows", &ArraySpec::pe_rows, "of MACs in a core", "1000");
    s.quantity("sram", &ArraySpec::sram, "of a core: holds what is computed with and, beside it, what comes next")
        .at_least("1 B")
        .at_most("1 GiB");
    count("banks", &ArraySpec::banks,
          "of a core's SRAM: half of them are computed from while the others are filled; a single one does either at a "
          "time",
          "1000");
    count("bank_bytes", &ArraySpec::bank_bytes, "that a bank reads or writes in a clock of the device", "10000");
    count("link_bytes", &ArraySpec::link_bytes,
          "that a link between neighbouring cores carries in a clock of the device, each way", "100000");
    return s;
  }();
  return schema;
}

}  // namespace tessera::machine
