// A made-up run of a small machine, whose every figure follows from its index, spread over any number of ranks.
#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <string>
#include <vector>

#include "tessera/results/results.hpp"

namespace tessera::results::sample {

/// Which rank holds a device (its rows) or a link.
using Owner = std::function<int(std::uint32_t id)>;

struct Size {
  std::uint32_t devices = 8;
  std::uint32_t links = 20;
  std::uint32_t intervals = 6;  ///< of each device; 0: no timeline
};

inline RunResults names(const Size& size) {
  RunResults r;
  r.iteration_time = 2 * second;
  r.title = "A made-up run";
  r.machine = "eight-devices";
  r.calibration = "uncalibrated: peak rates";
  r.model = "none";
  r.strategy = "by-hand";
  r.plan = {{"tensor parallel", "4"}, {"pipeline parallel", "2"}};
  r.devices = size.devices;
  r.model_flops = 4e15;
  r.hardware_flops = 5e15;
  r.parameters = 1'000'000'000;
  r.tokens = 65'536;
  r.peak_flops = 312'000'000'000'000;
  r.memory_capacity = 80'000'000'000;
  r.activities = {"forward", "backward", "tensor_communication", "bubble"};
  r.categories = {"weights", "activations"};
  r.link_classes = {"nvlink", "nic"};
  r.labels = {"", "layer forward", "tensor"};
  r.collective_kinds = {"all_reduce", "reduce_scatter"};
  r.algorithms = {"ring", "direct"};
  for (std::uint32_t d = 0; d < size.devices; ++d) r.node_names.push_back("gpu " + std::to_string(d));
  r.node_names.push_back("nvswitch 0");
  return r;
}

/// Forward 1.0 s + 0.01 s x device, backward the rest but 0.25 s of communication and 0.05 s of bubble.
inline DeviceRow device(std::uint32_t d) {
  DeviceRow row;
  row.device = d;
  row.node = d / 8;
  const Time forward = second + d % 50 * 10 * millisecond;
  row.activity = {forward, 2 * second - forward - 300 * millisecond, 250 * millisecond, 50 * millisecond};
  row.flops = 1'000'000'000'000LL * (d + 1);
  row.bytes_sent = 1'000'000LL * d;
  row.bytes_received = 2'000'000LL * d;
  row.messages = 10LL * d;
  row.peak_memory = 40'000'000'000LL + (d % 5) * 1'000'000'000LL;
  row.peak_memory_time = d * microsecond;
  row.finished = 2 * second - d;
  return row;
}

inline LinkRow link(std::uint32_t l, const Size& size) {
  LinkRow row;
  row.link = l;
  row.from = l % size.devices;
  row.to = size.devices;
  row.link_class = static_cast<std::uint16_t>(l % 2);
  row.bandwidth = 300'000'000'000;
  row.bytes = 1'000'000'000LL * l;
  row.messages = l;
  row.busy = l % 20 * 100 * millisecond;
  row.peak_queue = 4096LL * l;
  return row;
}

inline void add_device(RunResults& r, std::uint32_t d, const Size& size) {
  r.device_rows.push_back(device(d));
  const std::int64_t peak = r.device_rows.back().peak_memory;
  r.memory_rows.push_back({d, 0, peak / 4, peak / 4});
  r.memory_rows.push_back({d, 1, peak - peak / 4, peak});
  std::vector<Interval> intervals;
  for (std::uint32_t i = 0; i < size.intervals; ++i) {
    const Time begin = i * 100 * nanosecond + d;
    const auto stream = static_cast<std::uint16_t>(i % 2);
    const auto label = static_cast<std::uint16_t>(i % 3);
    intervals.push_back({d, stream, label, label, begin, begin + 100 * nanosecond});
    r.memory_changes.push_back({d, static_cast<std::uint16_t>(i % 2), begin, 1000LL * (i + 1)});
  }
  r.intervals.add({d, intervals});
}

/// This rank's part of the run. Each rank adds its share of two collectives, whose sums are the same for any number of
/// ranks.
inline RunResults make(const Size& size, int rank, const Owner& owner) {
  RunResults r = names(size);
  if (rank != 0) r.node_names.clear();
  for (std::uint32_t d = 0; d < size.devices; ++d) {
    if (owner(d) != rank) continue;
    add_device(r, d, size);
    r.collective_rows.push_back(
        {2, 0, 0, 4, 10, 10'000, 10 * microsecond, microsecond + d, 4 * microsecond, 700 * nanosecond + d});
    if (d % 2 == 1) r.collective_rows.push_back({1, 1, 1, 2, 1, 500, nanosecond, nanosecond, 0, nanosecond});
  }
  for (std::uint32_t l = 0; l < size.links; ++l) {
    if (owner(l) == rank) r.link_rows.push_back(link(l, size));
  }
  return r;
}

inline RunResults make(const Size& size = {}) {
  return make(size, 0, [](std::uint32_t) { return 0; });
}

inline Provenance provenance() {
  Provenance p;
  p.experiment_given = "title = \"A made-up run\"\n";
  p.experiment_resolved = "title = \"A made-up run\"\nseed = 7\n";
  p.command = "tessera run made-up.toml -o out.h5";
  p.version = "0.1.0";
  p.host = "somewhere";
  p.started = "2024-05-01T12:00:00Z";
  p.seed = 7;
  p.ranks = p.ranks_used = 2;
  p.synchroniser = "window";
  p.partition = "block";
  p.wall_seconds = 4.25;
  p.waiting_seconds = 0.85;
  p.events = 12'345'678;
  p.rounds = 1234;
  p.messages = 99;
  return p;
}

inline std::string read_text(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// Files of `folder`: to see that nothing temporary is left.
inline std::vector<std::string> files_in(const std::string& folder) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    names.push_back(entry.path().filename().string());
  return names;
}

}  // namespace tessera::results::sample
