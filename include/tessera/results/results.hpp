// What a run leaves: plain rows, filled by sim/ and written by results/ (docs/results.md). Counting is apart from
// writing.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tessera/base/comm.hpp"
#include "tessera/base/data_table.hpp"
#include "tessera/base/tensors.hpp"
#include "tessera/base/time.hpp"
#include "tessera/results/intervals.hpp"

namespace tessera::results {

// Sums that can exceed 2^63 within the time that can be simulated have 128 bits here, and become real numbers in files.

/// One device of /devices. Times are of its main stream; together they are the iteration time.
struct DeviceRow {
  std::uint32_t device = 0;
  std::uint32_t node = 0;
  std::uint32_t kind = 0;            ///< machine::Machine::kind(): 0 is an accelerator
  std::int64_t memory_capacity = 0;  ///< B
  std::int64_t memory_reserve = 0;   ///< B of that, what no job can have
  std::vector<Time> activity;        ///< by program::Activity; names in RunResults::activities
  Int128 flops = 0;                  ///< executed
  Int128 bytes_sent = 0;
  Int128 bytes_received = 0;
  std::int64_t messages = 0;     ///< received
  std::int64_t peak_memory = 0;  ///< B
  Time peak_memory_time = 0;
  Time finished = 0;  ///< when its last stream ended
  bool operator==(const DeviceRow&) const = default;
};

/// One directed link of /links.
struct LinkRow {
  std::uint32_t link = 0;
  std::uint32_t from = 0, to = 0;  ///< nodes: devices, then switches
  std::uint16_t link_class = 0;
  std::int64_t bandwidth = 0;  ///< B/s
  Int128 bytes = 0;            ///< carried
  std::int64_t messages = 0;
  Time busy = 0;
  std::int64_t peak_queue = 0;  ///< B waiting behind the packet in service
  bool operator==(const LinkRow&) const = default;
};

/// One device and category of /memory: bytes at the moment of the device's peak, and the category's own peak.
struct MemoryRow {
  std::uint32_t device = 0;
  std::uint16_t category = 0;
  std::int64_t at_peak = 0;
  std::int64_t category_peak = 0;
  bool operator==(const MemoryRow&) const = default;
};

/// One change of a device's memory, when memory over time is recorded.
struct MemoryChange {
  std::uint32_t device = 0;
  std::uint16_t category = 0;
  Time time = 0;
  std::int64_t bytes = 0;  ///< level of the category after the change
  bool operator==(const MemoryChange&) const = default;
};

/// One run of a kernel at transaction level on one device (T3).
struct KernelRow {
  std::uint32_t device = 0;
  std::uint16_t stream = 0;
  std::uint16_t label = 0;
  Time begin = 0;
  Time computed = 0;  ///< its work-groups had ended; the rest is communication alone
  Time end = 0;
  std::int64_t held_back = 0;  ///< updates that found no entry in the Tracker, and were counted later
  bool operator==(const KernelRow&) const = default;
};

/// What one memory of a device has moved for one class of traffic.
struct TrafficRow {
  std::uint32_t device = 0;
  std::uint16_t memory = 0;   ///< 0: the device's own
  std::uint16_t traffic = 0;  ///< RunResults::traffic_classes
  std::int64_t bytes = 0;
  bool operator==(const TrafficRow&) const = default;
};

/// The same in one interval of time, when it is recorded.
struct TrafficBin {
  std::uint32_t device = 0;
  std::uint16_t memory = 0;
  std::uint16_t traffic = 0;
  Time begin = 0;
  std::int64_t bytes = 0;
  bool operator==(const TrafficBin&) const = default;
};

/// Collectives of one label and kind on one device; /collectives holds their sums over devices.
struct CollectiveRow {
  std::uint16_t label = 0;
  std::uint16_t kind = 0;  ///< program::CollectiveKind
  std::uint16_t algorithm = 0;
  std::uint32_t group_size = 0;
  std::int64_t calls = 0;  ///< summed over devices
  Int128 bytes = 0;        ///< summed buffer sizes
  Int128 total = 0;        ///< ps, summed durations
  Time longest = 0;
  Int128 waiting = 0;              ///< of `total`: for members that had not joined
  Time longest_communication = 0;  ///< of one call: its duration without waiting
  bool operator==(const CollectiveRow&) const = default;
};

/// What a stream of a device is for, in the program's own word.
struct StreamName {
  std::uint32_t device = 0;
  std::uint16_t stream = 0;
  std::string name;
  bool operator==(const StreamName&) const = default;
};

/// One of the plans that the strategy's search tried, as program::search::Tried.
struct SearchRow {
  std::int64_t step = 0;
  std::string candidate, fidelity;
  Time cost = 0;
  bool accepted = false;
  std::string reason;
  Time best = 0;
  std::string origin;
  Time predicted = 0, interval = 0;
  double reward = 0;
  std::int64_t most_memory = 0;  ///< B
  double seconds = 0;            ///< from the search's begin until the row was known; kept under /provenance
};

/// What the strategy foretold of the iteration, or a part of it, as strategy::Searched.
struct PredictedRow {
  std::string what;  ///< "all": of the iteration
  Time time = 0;
};

/// A part of the iteration that its program names, as program::Program::phases.
struct PhaseRow {
  std::string name;
  Time end = 0;  ///< from time zero until the last device was over with it
  bool operator==(const PhaseRow&) const = default;
};

/// A batch of requests that was served, as strategy::Served.
struct ServedRow {
  std::string phase;                       ///< "prompt", "generation", "prompt-and-generation"
  std::int64_t sequences = 0;              ///< of all replicas
  std::int64_t prompt = 0, generated = 0;  ///< tokens of a sequence; generated 0: none
  Time first_token = 0;                    ///< until each sequence has it; 0: it was there
  Time token = 0;                          ///< from one token of a sequence to the next, mean
  std::int64_t largest_batch = 0;          ///< sequences that fit into memory; 0: none does
};

/// What one rank knows after a run. Names and totals are the same on all ranks; rows are of its own devices and links,
/// sorted by id.
struct RunResults {
  Time iteration_time = 0;
  Time interval = 0;  ///< in steady state, from one to the next of what the program repeats; 0: it repeats nothing
  std::vector<std::pair<std::string, std::string>> plan;  ///< strategy's description
  std::vector<SearchRow> search;                          ///< in the order of the search
  bool search_is_timed = false;                           ///< it depends on the computer: kept under /provenance
  std::vector<PredictedRow> predicted;
  std::vector<PhaseRow> phases;     ///< in their order; empty: the program names none
  std::optional<ServedRow> served;  ///< of a strategy that says so; none in training
  std::vector<DataTable> tables;    ///< the strategy's own, as check_tables() takes them
  std::string title, machine, model, strategy;
  std::string calibration;   ///< what the machine's rates come from
  std::int64_t devices = 0;  ///< taking part, of those that compute
  double model_flops = 0,
         hardware_flops = 0;  ///< of the iteration, as strategy::Plan; beyond 2^63 for the largest jobs
  std::int64_t parameters = 0, tokens = 0;
  std::int64_t peak_flops = 0;       ///< FLOP/s of one device in the datatype of the products; 0: not known
  std::int64_t memory_capacity = 0;  ///< B of one accelerator
  std::int64_t memory_reserve = 0;   ///< B of that, what no job can have
  std::vector<std::string> activities, categories, link_classes, labels, collective_kinds, algorithms, traffic_classes;
  std::vector<std::string> node_names;  ///< devices and switches; on rank 0
  // On rank 0, where a timeline is recorded:
  std::vector<StreamName> stream_names;
  std::vector<std::string> groups;  ///< the members of each, as a text
  std::vector<DeviceRow> device_rows;
  std::vector<LinkRow> link_rows;
  std::vector<MemoryRow> memory_rows;
  std::vector<MemoryChange> memory_changes;
  std::vector<CollectiveRow> collective_rows;
  Timeline intervals;
  std::vector<KernelRow> kernel_rows;
  std::vector<TrafficRow> traffic_rows;
  std::vector<TrafficBin> traffic_bins;
};

/// What depends on the run and not on the model: /provenance.
/// How often something was done.
struct NamedCount {
  std::string name;
  std::int64_t count = 0;
};

/// What became of a law of the simulator.
struct LawUse {
  std::string name;
  bool is_used = false;
  std::string because;  ///< why it was not used
};

/// "trains, rings; not rounds, replicas: not asked for; not promises: one rank"
[[nodiscard]] std::string text_of(const std::vector<LawUse>& uses);

struct Provenance {
  std::string experiment_given;                 ///< text of the file and of --set
  std::string experiment_resolved;              ///< TOML, itself a valid experiment
  std::string command, version, host, started;  ///< started: ISO 8601, UTC
  std::string calibration;                      ///< RunResults::calibration
  std::string kernels;                          ///< of the networks of a search that learns; empty: there was none
  std::string fold;                             ///< what stood for others; empty: nothing did
  std::string cut_off;  ///< what is proven of a search that its budget of time ended; empty: it did not
  std::uint64_t seed = 1;
  int ranks = 1, ranks_used = 1;  ///< processes, and those of them that have simulated something
  std::string synchroniser, partition;
  double wall_seconds = 0, waiting_seconds = 0;        ///< of the rank with the most
  std::uint64_t events = 0, rounds = 0, messages = 0;  ///< over all ranks
  std::vector<NamedCount> events_by_kind;              ///< over all ranks; may be empty
  std::vector<LawUse> laws;
};

/// How the rows of several ranks reach the file: all ranks write their own through MPI-IO, or rank 0 writes them all.
/// `automatic` gathers where the file system has no MPI-IO. The files are the same. One rank uses no MPI at all.
enum class Transport { automatic, gather };

/// What may stand at an output's path by the time that it is written.
struct Replacing {
  bool is_anything = true;  ///< if not: this file as it was, or none
  bool exists = false;
  std::uint64_t device = 0, inode = 0;
  std::int64_t changed_ns = 0;  ///< since 1970
};

/// Refuses, before a long run, an output that could not be written at its end. IoError "cannot write 'path': reason": a
/// directory, a missing directory, no permission, a link that leads nowhere, a file to which this process already
/// writes (standard output), or an existing file unless `replace`. Rank 0's business; leaves no file behind. Returns
/// what stands there: whoever is given it replaces nothing that somebody else has written since.
Replacing check_output(const std::string& path, bool replace);

/// Refuses an output that is one of these files, under whatever name; empty and missing ones are passed over. IoError.
void check_distinct(const std::string& path, const std::vector<std::string>& inputs);

/// schema_version of the files that write() makes (docs/results.md).
[[nodiscard]] std::int64_t file_schema_version();

/// Writes the file on all ranks together: to `path` + ".tmp-...", renamed when complete. On failure, and on SIGTERM,
/// SIGINT or SIGHUP while it writes, no file is left and every rank throws the same IoError "cannot write 'path':
/// reason". A file that is at `path` by then is replaced; unless it may be, it stays, the complete file keeps its
/// temporary name, and the IoError says so.
void write(const std::string& path, const RunResults& results, const Provenance& provenance, Communicator& comm,
           Transport transport = Transport::automatic, const Replacing& replacing = {});

/// Refuses tables that files cannot keep: problem_of(), two of one name, and names of the files' own ("devices").
/// InternalError.
void check_tables(const std::vector<DataTable>& tables);

/// What a strategy's search tried, without a run: /search as in a result file, the names of what was asked, tables of
/// the strategy, and /provenance. As write(), by one process alone.
void write_history(const std::string& path, const RunResults& results, const Provenance& provenance,
                   const Replacing& replacing = {});

/// A policy that `tessera train` has learnt, or is learning.
struct PolicyFile {
  std::string title, machine, strategy;
  Tensors policy;
  std::vector<DataTable> tables;  ///< how it came about, in the strategy's own words
};
/// As write_history().
void write_policy(const std::string& path, const PolicyFile& file, const Provenance& provenance,
                  const Replacing& replacing = {});
/// InputError for another kind of file, IoError for one that is damaged or cannot be read.
[[nodiscard]] PolicyFile read_policy(const std::string& path);
/// Of a file that has been read; `path` names it in messages.
[[nodiscard]] PolicyFile read_policy(const std::string& path, const std::string& bytes);
/// Whether these bytes begin as a file of HDF5 does.
[[nodiscard]] bool is_hdf5(const std::string& bytes);

/// A text file, written under a temporary name and renamed. IoError as for write().
void write_text(const std::string& path, const std::string& text, const Replacing& replacing = {});

/// Whether the checksums of a file that is read are compared with its tables; whoever has just written it need not.
enum class Checking { all, none };

/// The summary table as text, from a file alone; `tessera show` and the end of `tessera run` print the same. IoError
/// "cannot read 'path': reason", which names the table that is damaged; InputError when the file is not one of
/// Tessera's.
[[nodiscard]] std::string summary(const std::string& path, Checking checking = Checking::all);

/// One table of a file of any kind by its name ("partition", "names/nodes"): a line with its description, columns with
/// their units, all rows. IoError and InputError as for summary().
[[nodiscard]] std::string table_text(const std::string& path, const std::string& table,
                                     Checking checking = Checking::all);

/// What of a result file has no checksum, so that damage would not be seen, as a sentence for the user; empty when all
/// has. Files of earlier versions have none.
[[nodiscard]] std::string unchecked(const std::string& path);

/// A part of a timeline: intervals that have a moment in [from, to), as long as they are.
struct TimelinePart {
  std::vector<std::pair<std::int64_t, std::int64_t>> devices;  ///< first and last number of ranges; none: all devices
  Time from = 0;
  Time to = std::numeric_limits<Time>::max();
};

/// Chrome/Perfetto trace of a recorded timeline: devices as processes, streams as threads. InputError when the file has
/// no timeline, or nothing of this part; IoError as for summary and write. Written under a temporary name and renamed.
void export_timeline(const std::string& path, const std::string& json_path, const TimelinePart& part = {});

}  // namespace tessera::results
