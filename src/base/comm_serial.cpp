#include "tessera/base/comm.hpp"

namespace tessera {

namespace {

class SerialCommunicator final : public Communicator {
 public:
  [[nodiscard]] int rank() const override { return 0; }
  [[nodiscard]] int size() const override { return 1; }
  [[nodiscard]] ByteVector broadcast(ByteVector bytes) override { return bytes; }
  [[nodiscard]] std::vector<ByteVector> gather(const ByteVector& bytes) override { return {bytes}; }
  [[nodiscard]] std::vector<ByteVector> all_gather(const ByteVector& bytes) override { return {bytes}; }
  [[nodiscard]] std::vector<ByteVector> all_to_all(const std::vector<ByteVector>& bytes) override { return bytes; }
  [[nodiscard]] std::int64_t min(std::int64_t value) override { return value; }
  [[nodiscard]] std::int64_t max(std::int64_t value) override { return value; }
  [[nodiscard]] std::int64_t sum(std::int64_t value) override { return value; }
  void barrier() override {}
  [[nodiscard]] std::unique_ptr<Communicator> split(int) override { return make_serial_communicator(); }
};

}  // namespace

std::unique_ptr<Communicator> make_serial_communicator() { return std::make_unique<SerialCommunicator>(); }

}  // namespace tessera
