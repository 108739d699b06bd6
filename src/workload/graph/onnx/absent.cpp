// A build without the package that reads ONNX.
#ifndef TESSERA_ONNX
#include "onnx.hpp"

namespace tessera::workload {

bool reads_onnx() { return false; }

Graph read_onnx(const std::string&, const std::string& file, const OnnxKeys&, config::Diagnostics& diagnostics) {
  diagnostics.error({file, 0, 0}, "this tessera is built without ONNX: install libonnx-dev and build again");
  return {};
}

}  // namespace tessera::workload
#endif
