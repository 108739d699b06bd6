#include "tables.hpp"

#include <algorithm>

#include "served.hpp"
#include "tessera/results/digest.hpp"

namespace tessera::results {
namespace {

using Pair = std::pair<std::string, std::string>;

template <class Member>
std::size_t longest_member(const std::vector<Pair>& pairs, Member Pair::*member) {
  std::size_t width = 1;
  for (const Pair& pair : pairs) width = std::max(width, (pair.*member).size());
  return width;
}

/// Exact up to 2^53.
double real(Int128 count) { return static_cast<double>(count); }

double ratio(double part, double whole) { return whole > 0 ? part / whole : 0.0; }

double seconds(Time time) { return static_cast<double>(time) / static_cast<double>(second); }

double utilisation_of(double flops, const RunResults& r) {
  return utilisation(flops, r.iteration_time, r.peak_flops, r.devices);
}

void add_job(Table<SummaryRow>& table, const RunResults& r) {
  using Row = SummaryRow;
  table
      .text("title", "name of the experiment", r.title.size(),
            [](const Row& s) -> std::string_view { return s.results->title; })
      .text("machine", "name of the machine", r.machine.size(),
            [](const Row& s) -> std::string_view { return s.results->machine; })
      .text("calibration", "what the machine's rates come from", r.calibration.size(),
            [](const Row& s) -> std::string_view { return s.results->calibration; })
      .text("model", "name of the model; empty when the experiment has none", r.model.size(),
            [](const Row& s) -> std::string_view { return s.results->model; })
      .text("strategy", "name of the strategy", r.strategy.size(),
            [](const Row& s) -> std::string_view { return s.results->strategy; })
      .integer("seed", "1", "of all random numbers", [](const Row& s) { return static_cast<std::int64_t>(s.seed); })
      .integer("devices", "1", "devices taking part, without hosts", [](const Row& s) { return s.results->devices; });
}

void add_rates(Table<SummaryRow>& table) {
  using Row = SummaryRow;
  table
      .integer("iteration_time_ps", "ps", "from time zero until the last device has finished",
               [](const Row& s) { return s.results->iteration_time; })
      .integer("interval_ps", "ps", "in steady state, from one to the next of what repeats; 0: nothing does",
               [](const Row& s) { return s.results->interval; })
      .integer("tokens", "1", "tokens of one iteration", [](const Row& s) { return s.results->tokens; })
      .number("tokens_per_second", "1/s", "tokens / iteration time",
              [](const Row& s) {
                return ratio(static_cast<double>(s.results->tokens), seconds(s.results->iteration_time));
              })
      .integer("parameters", "1", "of the model", [](const Row& s) { return s.results->parameters; })
      .number("model_flops", "FLOP", "of one iteration, without recomputation",
              [](const Row& s) { return s.results->model_flops; })
      .number("hardware_flops", "FLOP", "of one iteration, recomputation included",
              [](const Row& s) { return s.results->hardware_flops; })
      .integer("peak_flops", "FLOP/s", "of one device in the datatype of the job's products; 0: not known",
               [](const Row& s) { return s.results->peak_flops; })
      .number("model_flops_utilisation", "1", "model_flops / (iteration time x devices x peak_flops); 0 where that is",
              [](const Row& s) { return utilisation_of(s.results->model_flops, *s.results); })
      .number("hardware_flops_utilisation", "1",
              "hardware_flops / (iteration time x devices x peak_flops); 0 where that is",
              [](const Row& s) { return utilisation_of(s.results->hardware_flops, *s.results); });
}

void add_activities(Table<SummaryRow>& table, const RunResults& r) {
  using Row = SummaryRow;
  for (std::size_t i = 0; i < r.activities.size(); ++i) {
    const std::string column = activity_column(r.activities[i]);
    table.integer("mean_" + column, "ps", "time of " + r.activities[i] + ", mean of the accelerators, rounded",
                  [i](const Row& s) { return s.mean[i]; });
    table.integer("max_" + column, "ps", "time of " + r.activities[i] + ", accelerator with the most of it",
                  [i](const Row& s) { return s.longest[i]; });
  }
}

}  // namespace

double utilisation(double flops, Time time, std::int64_t peak_flops, std::int64_t devices) {
  return ratio(flops, seconds(time) * static_cast<double>(peak_flops) * static_cast<double>(devices));
}

std::string activity_column(const std::string& activity) {
  std::string column = activity;
  std::replace_if(
      column.begin(), column.end(), [](char c) { return c == ' ' || c == '-'; }, '_');
  return column + "_ps";
}

Table<SummaryRow> summary_table(const RunResults& r) {
  using Row = SummaryRow;
  Table<Row> table("/summary", "The run in one row.");
  add_job(table, r);
  add_rates(table);
  add_activities(table, r);
  table.integer("memory_capacity", "B", "of one accelerator", [](const Row& s) { return s.results->memory_capacity; })
      .integer("memory_reserve", "B", "of memory_capacity, what no job can have: context, buffers, fragmentation",
               [](const Row& s) { return s.results->memory_reserve; })
      .integer("peak_memory", "B", "of the fullest accelerator", [](const Row& s) { return s.peak_memory; })
      .index("peak_memory_device", "the fullest accelerator; the first of equals",
             [](const Row& s) { return s.peak_memory_device; })
      .number("bytes_sent", "B", "by all devices, received by others", [](const Row& s) { return real(s.bytes_sent); })
      .integer("messages", "1", "received by all devices", [](const Row& s) { return s.messages; });
  add_served(table, r);
  return table;
}

Table<DeviceRow> device_table(const RunResults& r) {
  using Row = DeviceRow;
  Table<Row> table("/devices", "One row a device that takes part, in order of its number.");
  table.index("device", "number of the device", [](const Row& d) { return d.device; })
      .index("node", "server, wafer or package it is in", [](const Row& d) { return d.node; })
      .index("kind", "0: an accelerator; other numbers: a host of the so-manieth table [[machine.host]]",
             [](const Row& d) { return d.kind; });
  for (std::size_t i = 0; i < r.activities.size(); ++i) {
    table.integer(activity_column(r.activities[i]), "ps",
                  "time of the main stream in " + r.activities[i] + "; all activities add up to the iteration time",
                  [i](const Row& d) { return d.activity[i]; });
  }
  table.number("flops", "FLOP", "executed", [](const Row& d) { return real(d.flops); })
      .number("bytes_sent", "B", "sent to other devices", [](const Row& d) { return real(d.bytes_sent); })
      .number("bytes_received", "B", "received from other devices", [](const Row& d) { return real(d.bytes_received); })
      .integer("messages", "1", "received", [](const Row& d) { return d.messages; })
      .integer("memory_capacity", "B", "of its memory", [](const Row& d) { return d.memory_capacity; })
      .integer("memory_reserve", "B", "of memory_capacity, what no job can have",
               [](const Row& d) { return d.memory_reserve; })
      .integer("peak_memory", "B", "most memory held at one time", [](const Row& d) { return d.peak_memory; })
      .integer("peak_memory_time_ps", "ps", "when that was first reached",
               [](const Row& d) { return d.peak_memory_time; })
      .integer("finished_ps", "ps", "when the last of its streams ended", [](const Row& d) { return d.finished; });
  return table;
}

Table<LinkRow> link_table(const RunResults& r) {
  using Row = LinkRow;
  Table<Row> table("/links", "One row a directed link of the network, in order of its number.");
  table.index("link", "number of the link", [](const Row& l) { return l.link; })
      .index("from", "node it leaves; names in /names/nodes", [](const Row& l) { return l.from; })
      .index("to", "node it leads to", [](const Row& l) { return l.to; })
      .text("link_class", "kind of link", longest(r.link_classes),
            [&r](const Row& l) -> std::string_view { return r.link_classes[l.link_class]; })
      .integer("bandwidth", "B/s", "that messages get in this direction: the machine's efficiency and faults applied",
               [](const Row& l) { return l.bandwidth; })
      .number("bytes", "B", "carried", [](const Row& l) { return real(l.bytes); })
      .integer("messages", "1", "carried", [](const Row& l) { return l.messages; })
      .integer("busy_ps", "ps", "time in which it was sending", [](const Row& l) { return l.busy; })
      .number("utilisation", "1", "busy_ps / iteration time",
              [&r](const Row& l) { return ratio(static_cast<double>(l.busy), static_cast<double>(r.iteration_time)); })
      .integer("peak_queue", "B", "most bytes that had come and not begun to be sent",
               [](const Row& l) { return l.peak_queue; });
  return table;
}

Table<MemoryRow> memory_table(const RunResults& r) {
  using Row = MemoryRow;
  Table<Row> table("/memory", "One row a device and category of memory, in order of device and category.");
  table.index("device", "number of the device", [](const Row& m) { return m.device; })
      .text("category", "what the memory holds", longest(r.categories),
            [&r](const Row& m) -> std::string_view { return r.categories[m.category]; })
      .integer("at_peak", "B", "held when the device as a whole held the most", [](const Row& m) { return m.at_peak; })
      .integer("category_peak", "B", "most that the category held at one time; these do not add up",
               [](const Row& m) { return m.category_peak; });
  return table;
}

Table<CollectiveRow> collective_table(const RunResults& r) {
  using Row = CollectiveRow;
  Table<Row> table("/collectives",
                   "One row a label, kind, algorithm and group size of collective operations; sums over all devices.");
  table
      .text("label", "what the operation is for", longest(r.labels),
            [&r](const Row& c) -> std::string_view { return r.labels[c.label]; })
      .text("kind", "all_reduce, reduce_scatter, ...", longest(r.collective_kinds),
            [&r](const Row& c) -> std::string_view { return r.collective_kinds[c.kind]; })
      .text("algorithm", "how it was carried out", longest(r.algorithms),
            [&r](const Row& c) -> std::string_view { return r.algorithms[c.algorithm]; })
      .index("group_size", "devices of a group", [](const Row& c) { return c.group_size; })
      .integer("calls", "1", "joined, summed over devices: operations x group_size",
               [](const Row& c) { return c.calls; })
      .number("bytes", "B", "buffer sizes, summed over calls", [](const Row& c) { return real(c.bytes); })
      .number("total_ps", "ps", "durations, summed over calls", [](const Row& c) { return real(c.total); })
      .integer("mean_ps", "ps", "total_ps / calls",
               [](const Row& c) { return c.calls > 0 ? static_cast<Time>(c.total / c.calls) : 0; })
      .integer("longest_ps", "ps", "longest duration of one call", [](const Row& c) { return c.longest; })
      .number("waiting_ps", "ps", "of total_ps: until the last member had joined on whose data a call depends",
              [](const Row& c) { return real(c.waiting); })
      .integer("mean_communication_ps", "ps", "(total_ps - waiting_ps) / calls",
               [](const Row& c) { return c.calls > 0 ? static_cast<Time>((c.total - c.waiting) / c.calls) : 0; })
      .integer("longest_communication_ps", "ps", "longest duration of one call without its waiting",
               [](const Row& c) { return c.longest_communication; });
  return table;
}

Table<Interval> timeline_table() {
  using Row = Interval;
  Table<Row> table("/timeline", "What every stream of every device did, in order of device, stream and time.");
  table.index("device", "number of the device", [](const Row& i) { return i.device; })
      .index("stream", "0 is the main stream", [](const Row& i) { return i.stream; })
      .index("label", "what it did; names in /names/labels", [](const Row& i) { return i.label; })
      .index("activity", "what it counts as; names in /names/activities", [](const Row& i) { return i.activity; })
      .integer("begin_ps", "ps", "start of the interval", [](const Row& i) { return i.begin; })
      .integer("end_ps", "ps", "end of the interval", [](const Row& i) { return i.end; })
      .integer("bytes", "B", "of the message or collective; 0: it is neither", [](const Row& i) { return i.bytes; })
      .index("group", "of the collective; names in /names/groups; -1: it is none", [](const Row& i) { return i.group; })
      .index("micro_batch", "whose forward or backward pass it is part of; -1: of none",
             [](const Row& i) { return i.micro_batch; })
      .index("peer", "device at the other end of the message; -1: it is none", [](const Row& i) { return i.peer; })
      .index("channel", "of the message, between the two devices; -1: it is none",
             [](const Row& i) { return i.channel; })
      .index("message", "number of the message, from this sender to this receiver on this channel; -1: no end of one",
             [](const Row& i) { return i.message; })
      .index("end_of_message", "1: it is sent here; 2: it is taken here; 0: neither",
             [](const Row& i) { return static_cast<std::int64_t>(i.end_of_message); });
  return table;
}

Table<StreamName> stream_names_table(const std::vector<StreamName>& names) {
  std::size_t width = 1;
  for (const StreamName& one : names) width = std::max(width, one.name.size());
  Table<StreamName> table("/names/streams", "What the streams of each device are for, in the program's own words.");
  table.index("device", "number of the device", [](const StreamName& s) { return s.device; })
      .index("stream", "0 is the main stream", [](const StreamName& s) { return s.stream; })
      .text("name", "name", width, [](const StreamName& s) -> std::string_view { return s.name; });
  return table;
}

Table<MemoryChange> memory_timeline_table() {
  using Row = MemoryChange;
  Table<Row> table("/memory_timeline", "Every change of a device's memory, in order of device and time.");
  table.index("device", "number of the device", [](const Row& m) { return m.device; })
      .index("category", "what the memory holds; names in /names/categories", [](const Row& m) { return m.category; })
      .integer("time_ps", "ps", "of the change", [](const Row& m) { return m.time; })
      .integer("bytes", "B", "that the category holds from then on", [](const Row& m) { return m.bytes; });
  return table;
}

Table<KernelRow> kernel_table(const RunResults& r) {
  using Row = KernelRow;
  Table<Row> table("/kernels", "Every run of a kernel at transaction level, in order of device, stream and time.");
  table.index("device", "number of the device", [](const Row& k) { return k.device; })
      .index("stream", "0 is the main stream", [](const Row& k) { return k.stream; })
      .text("label", "what it is for", longest(r.labels),
            [&r](const Row& k) -> std::string_view { return r.labels[k.label]; })
      .integer("begin_ps", "ps", "its start", [](const Row& k) { return k.begin; })
      .integer("computed_ps", "ps", "its work-groups had ended; what follows is communication alone",
               [](const Row& k) { return k.computed; })
      .integer("end_ps", "ps", "its end", [](const Row& k) { return k.end; })
      .integer("held_back", "1",
               "updates that found no entry in the Tracker, and were counted at the memory controller",
               [](const Row& k) { return k.held_back; });
  return table;
}

Table<TrafficRow> traffic_table(const RunResults& r) {
  using Row = TrafficRow;
  Table<Row> table("/memory_traffic", "What memories have moved, in order of device, memory and class.");
  table.index("device", "number of the device", [](const Row& t) { return t.device; })
      .index("memory", "0 is the device's own; others are those of kernels that are taken as undisturbed",
             [](const Row& t) { return t.memory; })
      .text("traffic", "what for", longest(r.traffic_classes),
            [&r](const Row& t) -> std::string_view { return r.traffic_classes[t.traffic]; })
      .integer("bytes", "B", "read or written; an op-and-store is one write", [](const Row& t) { return t.bytes; });
  return table;
}

Table<TrafficBin> traffic_timeline_table(const RunResults& r) {
  using Row = TrafficBin;
  Table<Row> table("/memory_traffic_timeline",
                   "What memories have moved over time, in order of device, memory, time and class.");
  table.index("device", "number of the device", [](const Row& t) { return t.device; })
      .index("memory", "0 is the device's own", [](const Row& t) { return t.memory; })
      .integer("begin_ps", "ps", "of the interval", [](const Row& t) { return t.begin; })
      .text("traffic", "what for", longest(r.traffic_classes),
            [&r](const Row& t) -> std::string_view { return r.traffic_classes[t.traffic]; })
      .integer("bytes", "B", "moved in it", [](const Row& t) { return t.bytes; });
  return table;
}

Table<Pair> plan_table(const RunResults& r) {
  Table<Pair> table("/plan", "How the strategy cut the job, in its own words.");
  table
      .text("key", "property", longest_member(r.plan, &Pair::first),
            [](const Pair& p) -> std::string_view { return p.first; })
      .text("value", "its value", longest_member(r.plan, &Pair::second),
            [](const Pair& p) -> std::string_view { return p.second; });
  return table;
}

Table<NameRow> names_table(const std::string& path, const std::string& index, const std::string& description,
                           const std::vector<std::string>& names) {
  Table<NameRow> table(path, description);
  table.index(index, "index", [](const NameRow& n) { return n.index; })
      .text("name", "name", longest(names), [](const NameRow& n) { return n.name; });
  return table;
}

Table<Provenance> provenance_table(const Provenance& p) {
  using Row = Provenance;
  Table<Row> table("/provenance/run", "How the run was carried out. None of it changes the results.");
  table.index("ranks", "processes", [](const Row& r) { return r.ranks; })
      .index("ranks_used", "of these, which have simulated something", [](const Row& r) { return r.ranks_used; })
      .text("synchroniser", "how the ranks stay in step", p.synchroniser.size(),
            [](const Row& r) -> std::string_view { return r.synchroniser; })
      .text("partition", "how the devices are spread over the ranks", p.partition.size(),
            [](const Row& r) -> std::string_view { return r.partition; })
      .number("wall_seconds", "s", "wall time of the simulation, slowest rank",
              [](const Row& r) { return r.wall_seconds; })
      .number("waiting_seconds", "s", "of that in waiting for other ranks, rank that waited longest",
              [](const Row& r) { return r.waiting_seconds; })
      .integer("events", "1", "simulated, over all ranks",
               [](const Row& r) { return static_cast<std::int64_t>(r.events); })
      .number("events_per_second", "1/s", "events / wall_seconds",
              [](const Row& r) { return ratio(static_cast<double>(r.events), r.wall_seconds); })
      .integer("rounds", "1", "of synchronisation", [](const Row& r) { return static_cast<std::int64_t>(r.rounds); })
      .integer("messages", "1", "events that went to another rank",
               [](const Row& r) { return static_cast<std::int64_t>(r.messages); })
      .integer("seed", "1", "of all random numbers", [](const Row& r) { return static_cast<std::int64_t>(r.seed); })
      .text("version", "of Tessera", p.version.size(), [](const Row& r) -> std::string_view { return r.version; })
      .text("host", "of rank 0", p.host.size(), [](const Row& r) -> std::string_view { return r.host; })
      .text("started", "ISO 8601, UTC", p.started.size(), [](const Row& r) -> std::string_view { return r.started; });
  return table;
}

namespace {

template <class Named>
std::size_t longest_name(const std::vector<Named>& all) {
  std::size_t most = 0;
  for (const Named& one : all) most = std::max(most, one.name.size());
  return most;
}

}  // namespace

Table<NamedCount> events_table(const std::vector<NamedCount>& counts) {
  Table<NamedCount> table("/provenance/events", "What the events were, over all ranks: docs/laws.md.");
  table
      .text("kind", "of event, or what they are many for", longest_name(counts),
            [](const NamedCount& c) -> std::string_view { return c.name; })
      .integer("count", "1", "how many", [](const NamedCount& c) { return c.count; });
  return table;
}

Table<LawUse> laws_table(const std::vector<LawUse>& uses) {
  std::size_t longest = 1;
  for (const LawUse& use : uses) longest = std::max(longest, use.because.size());
  Table<LawUse> table("/provenance/laws", "What was simulated without events of its own (docs/laws.md).");
  table.text("law", "", longest_name(uses), [](const LawUse& use) -> std::string_view { return use.name; })
      .integer("used", "1", "1: where nothing in the program spoke against it; 0: not at all",
               [](const LawUse& use) { return use.is_used ? 1 : 0; })
      .text("because", "of what it was not used", longest,
            [](const LawUse& use) -> std::string_view { return use.because; });
  return table;
}

}  // namespace tessera::results
