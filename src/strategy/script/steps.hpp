// Steps with everything looked up: devices, peers, groups, operators.
#pragma once

#include <optional>
#include <vector>

#include "groups.hpp"
#include "tables.hpp"
#include "tessera/strategy/strategy.hpp"

namespace tessera::strategy::script {

/// One step, ready to be turned into instructions.
struct Step {
  StepTable keys;
  std::vector<bool> does;  ///< by device
  program::Activity activity = program::Activity::forward;
  std::uint32_t slot = 0;        ///< of the peer or of the group
  workload::Operator operation;  ///< gemm, compute
  program::Collective collective;
  std::size_t block = 0;  ///< run: index among the script's blocks
};

/// What a peer slot means: a fixed device, or the one `shift` places further in a list.
struct PeerSlot {
  bool fixed = true;
  program::DeviceId device = 0;
  std::int64_t shift = 0;
  Devices list;
  bool operator==(const PeerSlot&) const = default;

  /// The device that the slot means to `user`; no_device for those outside the list.
  [[nodiscard]] std::vector<program::DeviceId> by_device(program::DeviceId devices) const;
};

/// Looks everything up that steps name. Problems go to the diagnostics, with the place of the key.
class StepReader {
 public:
  StepReader(const Job& job, const program::Program& program, const GroupSets& groups, config::Diagnostics& diagnostics)
      : job_(job), program_(program), groups_(groups), diagnostics_(diagnostics) {}

  /// Steps of one table array ("step" of [strategy] or of a block). `blocks`: names that op = "run" may use here.
  [[nodiscard]] std::vector<Step> read(const std::vector<StepTable>& steps, const config::Table& parent,
                                       const std::vector<std::string>& blocks);
  [[nodiscard]] const std::vector<PeerSlot>& peers() const { return peers_; }

 private:
  [[nodiscard]] Step read_one(const StepTable& keys, const config::Table& table,
                              const std::vector<std::string>& blocks);
  void read_operator(Step& step, const config::Table& table);
  void check_time(const Step& step, const config::Table& table);
  void read_peer(Step& step, const config::Table& table, const Devices& devices);
  void read_collective(Step& step, const config::Table& table, program::CollectiveKind kind);
  [[nodiscard]] std::optional<program::AlgorithmId> read_algorithm(const Step& step, const config::Table& table,
                                                                   program::CollectiveKind kind);
  void check_members(Step& step, const config::Table& table);
  void read_block(Step& step, const config::Table& table, const std::vector<std::string>& blocks);

  const Job& job_;
  const program::Program& program_;
  const GroupSets& groups_;
  config::Diagnostics& diagnostics_;
  std::vector<PeerSlot> peers_;
};

}  // namespace tessera::strategy::script
