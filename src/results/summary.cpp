// The table that answers the question asked: how long, where the time goes, what memory holds, what the links carry.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <string>
#include <vector>

#include "data_tables.hpp"
#include "h5/reader.hpp"
#include "human.hpp"
#include "listed.hpp"
#include "served.hpp"
#include "tables.hpp"
#include "tessera/base/text.hpp"
#include "tessera/results/digest.hpp"
#include "tessera/results/results.hpp"

namespace tessera::results {
namespace {

/// Files of earlier versions of Tessera do not have all of them.
bool has_column(const h5::Rows& rows, std::string_view name) {
  return std::ranges::any_of(rows.columns(), [&](const auto& column) { return column.name == name; });
}

constexpr std::size_t text_width = 100;      ///< longer lines are wrapped
constexpr std::size_t most_collectives = 8;  ///< the others are counted
constexpr std::size_t most_plans = 6;        // shown

std::string spaced(std::string name) {
  std::replace(name.begin(), name.end(), '_', ' ');
  return name;
}

/// Parts on lines of at most text_width characters, separated by commas, later lines indented.
std::string wrapped(const std::vector<std::string>& parts) {
  std::string text;
  std::size_t width = 0;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const std::string part = parts[i] + (i + 1 < parts.size() ? "," : "");
    if (width > 0 && width + 1 + part.size() > text_width) {
      text += "\n  ";
      width = 2;
    } else if (width > 0) {
      text += ' ';
      ++width;
    }
    text += part;
    width += part.size();
  }
  return text + "\n";
}

std::string heading(const h5::Reader& file, const h5::Rows& s) {
  std::vector<std::string> parts;
  const bool says_rates = has_column(s, "calibration");
  for (const char* what : {"model", "machine", "strategy"}) {
    const std::string name = s.text(0, what);
    const std::string rates =
        says_rates && std::string_view(what) == "machine" ? " (" + s.text(0, "calibration") + ")" : "";
    if (!name.empty()) parts.push_back(std::string(what) + " " + name + rates);
  }
  const h5::Rows plan = file.read("/plan");
  for (std::size_t i = 0; i < plan.size(); ++i) parts.push_back(plan.text(i, "key") + " " + plan.text(i, "value"));
  return s.text(0, "title") + "\n" + wrapped(parts);
}

/// What the strategy foretold of the iteration; 0: nothing.
Time predicted_time(const h5::Reader& file) {
  if (!file.has("/predicted")) return 0;
  const h5::Rows rows = file.read("/predicted");
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (rows.text(i, "what") == "all") return rows.integer(i, "time_ps");
  }
  return 0;
}

std::string rates(const h5::Reader& file, const h5::Rows& s) {
  const auto count = [&](const char* column) { return short_count(static_cast<double>(s.integer(0, column))); };
  std::string text =
      pair_line("iteration time", precise_time(s.integer(0, "iteration_time_ps")), "devices", count("devices"));
  if (has_column(s, "interval_ps") && s.integer(0, "interval_ps") > 0)
    text += fmt::format("  {:<20}{:>14}\n", "interval", precise_time(s.integer(0, "interval_ps")));
  if (const Time predicted = predicted_time(file); predicted > 0)
    text += fmt::format("  {:<20}{:>14}\n", "predicted time", precise_time(predicted));
  if (s.integer(0, "tokens") > 0) {
    text += pair_line("tokens per second", short_count(s.number(0, "tokens_per_second")), "tokens per iteration",
                      count("tokens"));
  }
  text += served_text(s);
  if (s.number(0, "model_flops") > 0 && s.integer(0, "peak_flops") > 0) {
    text += pair_line("model FLOPs", percent(s.number(0, "model_flops_utilisation"), 1) + " of peak", "hardware FLOPs",
                      percent(s.number(0, "hardware_flops_utilisation"), 1) + " of peak");
    // Recomputation alone would make it the other way round.
    if (s.number(0, "model_flops") > s.number(0, "hardware_flops") * 1.001)
      text += "  model FLOPs count masked scores and dropped tokens, as papers do; kernels leave them out\n";
  }
  return text;
}

/// Places of the activities in the order in which they are told: a strategy's own stand beside what they are of, its
/// communication behind the others', "backward_..." behind the backward pass, the rest behind all that programs have.
std::vector<std::size_t> told_activities(const std::vector<std::string>& names) {
  const auto idle = std::ranges::find(names, "idle");  // the last one that all programs have
  const auto common = static_cast<std::size_t>(idle == names.end() ? idle - names.begin() : idle - names.begin() + 1);
  std::vector<std::size_t> order(common);
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto is_beside = [&](const std::string& own, const std::string& other) {
    constexpr std::string_view communication = "_communication";
    return own.starts_with(other + "_") || (own.ends_with(communication) && other.ends_with(communication));
  };
  for (std::size_t own = common; own < names.size(); ++own) {
    const auto last = std::find_if(order.rbegin(), order.rend(),
                                   [&](std::size_t other) { return is_beside(names[own], names[other]); });
    order.insert(last == order.rend() ? order.end() : last.base(), own);
  }
  return order;
}

std::string time_table(const h5::Reader& file, const h5::Rows& s) {
  const auto whole = static_cast<double>(s.integer(0, "iteration_time_ps"));
  std::string text = fmt::format("{:<34}{:>12}{:>12}{:>14}\n", "time of a device", "mean", "share", "worst device");
  const h5::Rows rows = file.read("/names/activities");
  std::vector<std::string> names;
  for (std::size_t i = 0; i < rows.size(); ++i) names.push_back(rows.text(i, "name"));
  const auto idle = static_cast<std::size_t>(std::ranges::find(names, "idle") - names.begin());
  for (const std::size_t i : told_activities(names)) {
    const Time mean = s.integer(0, "mean_" + activity_column(names[i]));
    const Time longest = s.integer(0, "max_" + activity_column(names[i]));
    // A strategy names its own for what it is about, so that none of it is an answer too.
    if (longest == 0 && i <= idle) continue;
    text += fmt::format("  {:<32}{:>12}{:>12}{:>14}\n", spaced(names[i]), short_time(mean),
                        percent(static_cast<double>(mean), whole), short_time(longest));
  }
  return text;
}

std::string node_name(const h5::Rows& nodes, std::int64_t device) {
  const auto index = static_cast<std::size_t>(device);
  return index < nodes.size() ? nodes.text(index, "name") : "device " + std::to_string(device);
}

std::string memory_section(const h5::Reader& file, const h5::Rows& s) {
  const std::int64_t peak = s.integer(0, "peak_memory"), capacity = s.integer(0, "memory_capacity");
  const std::int64_t fullest = s.integer(0, "peak_memory_device");
  if (peak == 0) return {};
  const auto of_capacity = [&](std::int64_t bytes) {
    return percent(static_cast<double>(bytes), static_cast<double>(capacity));
  };
  const h5::Rows nodes = file.read("/names/nodes");
  std::string text = fmt::format("{:<34}{:>12}{:>12}{:>14}\n", "peak memory of " + node_name(nodes, fullest),
                                 short_bytes(peak), of_capacity(peak), "of " + short_bytes(capacity));
  const h5::Rows memory = file.read("/memory");
  const std::size_t device = memory.column("device"), category = memory.column("category"),
                    held = memory.column("at_peak");
  for (std::size_t i = 0; i < memory.size(); ++i) {
    if (memory.integer(i, device) != fullest || memory.integer(i, held) == 0) continue;
    text += fmt::format("  {:<32}{:>12}{:>12}\n", spaced(memory.text(i, category)),
                        short_bytes(memory.integer(i, held)), of_capacity(memory.integer(i, held)));
  }
  const std::int64_t reserve = has_column(s, "memory_reserve") ? s.integer(0, "memory_reserve") : 0;
  const std::int64_t spare = capacity - reserve - peak;
  const auto line = [&](const char* what, std::int64_t bytes) {
    text += fmt::format("  {:<32}{:>12}{:>12}\n", what, short_bytes(bytes), of_capacity(bytes));
  };
  if (reserve > 0) line("(reserved by the machine)", reserve);
  line(spare >= 0 ? "(to spare)" : "(too much)", std::abs(spare));
  return text;
}

/// Hosts that hold anything, the fullest first; of many the first ones.
std::string host_section(const h5::Reader& file) {
  constexpr std::size_t most = 4;
  const h5::Rows devices = file.read("/devices");
  if (!has_column(devices, "kind")) return {};
  struct Host {
    std::int64_t device, peak, capacity;
  };
  std::vector<Host> hosts;
  const std::size_t kind = devices.column("kind"), peak = devices.column("peak_memory");
  for (std::size_t i = 0; i < devices.size(); ++i) {
    if (devices.integer(i, kind) > 0 && devices.integer(i, peak) > 0)
      hosts.push_back({devices.integer(i, "device"), devices.integer(i, peak), devices.integer(i, "memory_capacity")});
  }
  if (hosts.empty()) return {};
  std::ranges::stable_sort(hosts, std::ranges::greater(), &Host::peak);
  const h5::Rows nodes = file.read("/names/nodes");
  std::string text;
  for (std::size_t i = 0; i < std::min(most, hosts.size()); ++i) {
    const auto [device, held, capacity] = hosts[i];
    text +=
        fmt::format("{:<34}{:>12}{:>12}{:>14}\n", "peak memory of " + node_name(nodes, device), short_bytes(held),
                    percent(static_cast<double>(held), static_cast<double>(capacity)), "of " + short_bytes(capacity));
  }
  if (hosts.size() > most) text += fmt::format("  (and {} more hosts)\n", hosts.size() - most);
  return text;
}

/// What the memories of a device have moved, on average; those at transaction level alone count it.
std::string memory_traffic(const h5::Reader& file) {
  if (!file.has("/memory_traffic")) return {};
  const h5::Rows rows = file.read("/memory_traffic");
  std::map<std::string, double> sums;
  double all = 0;
  std::set<std::int64_t> devices;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    sums[rows.text(i, "traffic")] += rows.number(i, "bytes");
    all += rows.number(i, "bytes");
    devices.insert(rows.integer(i, "device"));
  }
  const auto count = static_cast<double>(devices.size());
  if (!(all > 0)) return {};
  std::string text =
      fmt::format("{:<34}{:>12}{:>12}\n", "memory traffic of a device", short_bytes(all / count), "share");
  for (const auto& [name, bytes] : sums) {
    if (!(bytes > 0)) continue;
    text += fmt::format("  {:<32}{:>12}{:>12}\n", spaced(name), short_bytes(bytes / count), percent(bytes, all));
  }
  return text;
}

struct ClassTraffic {
  std::int64_t links = 0, peak_queue = 0;
  double bytes = 0, use = 0, most_used = 0;
};

std::string traffic_table(const h5::Reader& file) {
  const h5::Rows links = file.read("/links");
  const std::size_t name = links.column("link_class"), bytes = links.column("bytes"), use = links.column("utilisation"),
                    queue = links.column("peak_queue");
  std::map<std::string, ClassTraffic> classes;
  for (std::size_t i = 0; i < links.size(); ++i) {
    ClassTraffic& c = classes[links.text(i, name)];
    ++c.links;
    c.bytes += links.number(i, bytes);
    c.use += links.number(i, use);
    c.most_used = std::max(c.most_used, links.number(i, use));
    c.peak_queue = std::max(c.peak_queue, links.integer(i, queue));
  }
  if (classes.empty()) return {};
  std::string text = fmt::format("{:<22}{:>12}{:>12}{:>12}{:>14}{:>14}\n", "traffic", "links", "carried", "use, mean",
                                 "busiest", "peak queue");
  for (const auto& [class_name, c] : classes) {
    text +=
        fmt::format("  {:<20}{:>12}{:>12}{:>12}{:>14}{:>14}\n", class_name, short_count(static_cast<double>(c.links)),
                    short_bytes(c.bytes), percent(c.use, static_cast<double>(c.links)), percent(c.most_used, 1),
                    short_bytes(c.peak_queue));
  }
  return text;
}

/// "tensor all-gather, ring": the kind is left out where the label says it.
std::string name_of_collective(const h5::Rows& c, std::size_t row) {
  const std::string label = c.text(row, "label"), kind = spaced(c.text(row, "kind")), how = c.text(row, "algorithm");
  if (label.find(kind) != std::string::npos) return fmt::format("{}, {}", label, how);
  return label.empty() ? fmt::format("{}, {}", kind, how) : fmt::format("{}: {}, {}", label, kind, how);
}

constexpr std::string_view collective_columns = "{:<46}{:>6}{:>12}{:>9}{:>9}{:>9}{:>9}\n";

std::string collective_line(const h5::Rows& c, std::size_t row, bool knows_waiting) {
  const std::int64_t calls = std::max<std::int64_t>(1, c.integer(row, "calls"));
  const std::int64_t group = std::max<std::int64_t>(1, c.integer(row, "group_size"));
  return fmt::format(
      collective_columns, fmt::format("  {:.43}", name_of_collective(c, row)), group,
      short_count(static_cast<double>(calls / group)), short_bytes(c.number(row, "bytes") / static_cast<double>(calls)),
      short_time(c.integer(row, knows_waiting ? "mean_communication_ps" : "mean_ps")),
      short_time(c.integer(row, knows_waiting ? "longest_communication_ps" : "longest_ps")),
      knows_waiting ? short_time(static_cast<Time>(c.number(row, "waiting_ps") / static_cast<double>(calls))) : "-");
}

/// How long they take once all are there whose data they need, and how long they wait for those, on average.
std::string collective_table_text(const h5::Reader& file) {
  const h5::Rows c = file.read("/collectives");
  if (c.size() == 0) return {};
  const std::size_t total = c.column("total_ps");
  std::vector<std::size_t> order(c.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return c.number(a, total) > c.number(b, total); });
  std::string text =
      fmt::format(collective_columns, "collectives", "group", "operations", "size", "mean", "longest", "waiting");
  for (std::size_t i = 0; i < std::min(order.size(), most_collectives); ++i) {
    text += collective_line(c, order[i], file.version() > 1);
  }
  if (order.size() > most_collectives)
    text += fmt::format("  and {} more in /collectives\n", order.size() - most_collectives);
  return text;
}

enum class Shown { simulated, all };

/// The fastest of the plans that the search simulated, and what it foretold of them; `all`: of one that asks a model
/// alone, what that says.
std::string search_text(const h5::Reader& file, Shown shown) {
  const std::string path = file.has("/search") ? "/search" : "/provenance/search";
  if (!file.has(path)) return {};
  const h5::Rows plans = file.read(path);
  std::vector<std::size_t> order, estimated;
  for (std::size_t i = 0; i < plans.size(); ++i) {
    if (plans.integer(i, "cost_ps") > 0) (plans.text(i, "fidelity") == "simulated" ? order : estimated).push_back(i);
  }
  const bool is_simulated = !order.empty();
  if (!is_simulated && shown == Shown::all) order = std::move(estimated);
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return plans.integer(a, "cost_ps") < plans.integer(b, "cost_ps");
  });
  if (order.empty()) return {};
  std::string text =
      fmt::format("{:<46}{:>12}{:>14}\n",
                  is_simulated ? "plans of the search, by simulated time" : "plans of the search, by the model it asks",
                  "predicted", is_simulated ? "simulated" : "estimated");
  std::vector<std::string> names;
  for (std::size_t i = 0; i < std::min(order.size(), most_plans); ++i) {
    const std::string origin = plans.text(order[i], "origin");
    names.push_back(origin.empty() ? plans.text(order[i], "candidate") : origin);
  }
  const ListedNames listed = listed_names(names);
  if (!listed.common.empty()) text += "  all of them: " + listed.common + "\n";
  for (std::size_t i = 0; i < names.size(); ++i) {
    const std::string mark = i == 0 && plans.integer(order[i], "accepted") != 0 ? " (taken)" : "";
    const Time predicted = plans.integer(order[i], "predicted_ps");
    text += fmt::format("  {:<44}{:>12}{:>14}\n", listed.own[i] + mark, predicted > 0 ? short_time(predicted) : "",
                        short_time(plans.integer(order[i], "cost_ps")));
  }
  if (plans.size() > std::min(order.size(), most_plans))
    text += fmt::format("  and {} more in {}\n", plans.size() - std::min(order.size(), most_plans), path);
  return text;
}

/// "  of them 1.2 M segments, 3,000 deliveries", without what there was none of.
std::string event_kinds(const h5::Reader& file) {
  if (!file.has("/provenance/events")) return "";
  const h5::Rows counts = file.read("/provenance/events");
  std::string text;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    const std::int64_t count = counts.integer(i, "count");
    if (count == 0) continue;
    text += fmt::format("{}{} {}", text.empty() ? "  " : ", ", short_count(static_cast<double>(count)),
                        counts.text(i, "kind"));
  }
  return text.empty() ? "" : text + "\n";
}

std::string laws_used(const h5::Reader& file) {
  if (!file.has("/provenance/laws")) return "";
  const h5::Rows laws = file.read("/provenance/laws");
  std::vector<LawUse> uses;
  for (std::size_t i = 0; i < laws.size(); ++i)
    uses.push_back({laws.text(i, "law"), laws.integer(i, "used") != 0, laws.text(i, "because")});
  return "  laws: " + text_of(uses) + "\n";
}

std::string run_facts(const h5::Reader& file) {
  const h5::Rows p = file.read("/provenance/run");
  const std::int64_t ranks = p.integer(0, "ranks");
  const bool tells_used = std::ranges::find(p.columns(), "ranks_used", &Column::name) != p.columns().end();
  const std::int64_t used = tells_used ? p.integer(0, "ranks_used") : ranks;  // earlier files do not
  const std::string on = used == ranks ? std::to_string(ranks) : fmt::format("{} of {}", used, ranks);
  const double wall = p.number(0, "wall_seconds");
  std::string fold = file.has("/provenance/fold") ? "  " + file.text("/provenance/fold").value + "\n" : "";
  if (file.has("/provenance/search_cut_off"))
    fold += "  proven of the plan, " + file.text("/provenance/search_cut_off").value + "\n";
  return fmt::format("simulated on {} {} ({}) in {:.2f} s: {} events, {}/s, {} waiting for other ranks\n{}{}{}", on,
                     ranks == 1 ? "rank" : "ranks", p.text(0, "synchroniser"), wall,
                     short_count(static_cast<double>(p.integer(0, "events"))),
                     short_count(p.number(0, "events_per_second")), percent(p.number(0, "waiting_seconds"), wall), fold,
                     event_kinds(file), laws_used(file));
}

/// What the strategy hands over of its own (docs/results.md).
std::string tables_text(const h5::Reader& file) {
  std::string text;
  for (const std::string& name : data_tables_of(file)) {
    const std::string count = short_count(static_cast<double>(file.rows("/" + name)));
    text += fmt::format("  {:<20}{:>14}    {}\n", name, count, file.texts("/" + name).description);
  }
  return text.empty() ? text : fmt::format("{:<22}{:>14}\n", "tables (show --table)", "rows") + text;
}

/// Those that say something, an empty line between them. Names in a file are whatever somebody wrote.
std::string sections(const std::vector<std::string>& all) {
  std::string text;
  for (const std::string& section : all) {
    if (section.empty()) continue;
    if (!text.empty()) text += "\n";
    text += printable(section);
  }
  return text;
}

std::string history_summary(const std::string& path, Checking checking) {
  const h5::Reader file(path, checking, h5::FileKind::history);
  const std::string title = file.attribute("title");
  return printable((title.empty() ? "" : title + "\n") +
                   fmt::format("model {}, machine {}, strategy {}\n\n", file.attribute("model"),
                               file.attribute("machine"), file.attribute("strategy")) +
                   sections({search_text(file, Shown::all), tables_text(file)}));
}

}  // namespace

std::string summary(const std::string& path, Checking checking) {
  if (h5::kind_of(path) == h5::FileKind::history) return history_summary(path, checking);
  const h5::Reader file(path, checking);
  const h5::Rows s = file.read("/summary");
  return sections({heading(file, s), rates(file, s), time_table(file, s), memory_section(file, s), host_section(file),
                   memory_traffic(file), traffic_table(file), collective_table_text(file),
                   search_text(file, Shown::simulated), tables_text(file), run_facts(file)});
}

std::string unchecked(const std::string& path) {
  const h5::Reader::Coverage coverage = h5::Reader(path, Checking::none, h5::kind_of(path)).coverage();
  if (coverage.without.empty()) return {};
  if (coverage.with.empty()) {
    return "'" + path + "' has no checksums (an earlier Tessera wrote it): damage to it would not be seen";
  }
  return fmt::format("'{}' has no checksum of {}: damage there would not be seen", path,
                     fmt::join(coverage.without, ", "));
}

}  // namespace tessera::results
