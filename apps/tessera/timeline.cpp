// tessera timeline: the recorded intervals of a result file as a trace for Perfetto or chrome://tracing.
#include <CLI/CLI.hpp>
#include <charconv>
#include <limits>

#include "command.hpp"
#include "tessera/base/config.hpp"
#include "tessera/results/results.hpp"

namespace tessera::app {
namespace {

struct TimelineOptions {
  std::string path, output, devices, from, to;
  bool force = false;
};

/// A whole number of a list; nothing else may stand there.
bool parse_number(std::string_view text, std::int64_t& number) {
  std::uint32_t small = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), small);
  number = small;
  return error == std::errc{} && end == text.data() + text.size();
}

/// "0,8-15".
std::vector<std::pair<std::int64_t, std::int64_t>> parse_devices(const std::string& list) {
  std::vector<std::pair<std::int64_t, std::int64_t>> ranges;
  for (std::size_t begin = 0; begin <= list.size() && !list.empty();) {
    const std::size_t end = std::min(list.find(',', begin), list.size());
    const std::string part = list.substr(begin, end - begin);
    const std::size_t dash = part.find('-');
    std::int64_t first = 0, last = 0;
    const bool parsed = parse_number(std::string_view(part).substr(0, dash), first) &&
                        parse_number(dash == std::string::npos ? part : part.substr(dash + 1), last);
    if (!parsed || last < first) {
      throw InputError("tessera timeline: --devices: \"" + part +
                       "\" is no device or range of devices, expected such as 0,8-15");
    }
    ranges.emplace_back(first, last);
    begin = end + 1;
  }
  return ranges;
}

Time parse_time(const std::string& option, const std::string& text, Time otherwise) {
  if (text.empty()) return otherwise;
  std::string problem;
  const auto time = config::parse_quantity(text, config::Unit::time, problem);
  if (!time) throw InputError("tessera timeline: " + option + ": " + problem);
  return *time;
}

results::TimelinePart part_of(const TimelineOptions& options) {
  results::TimelinePart part;
  part.devices = parse_devices(options.devices);
  part.from = parse_time("--from", options.from, part.from);
  part.to = parse_time("--to", options.to, part.to);
  if (part.to <= part.from) throw InputError("tessera timeline: --to must be later than --from");
  return part;
}

ExitCode timeline(const TimelineOptions& options) {
  const results::TimelinePart part = part_of(options);
  results::check_distinct(options.output, {options.path});
  results::check_output(options.output, options.force);
  results::export_timeline(options.path, options.output, part);
  warn(results::unchecked(options.path));
  return ExitCode::done;
}

}  // namespace

Command add_timeline(CLI::App& app) {
  auto o = std::make_shared<TimelineOptions>();
  CLI::App* options = app.add_subcommand("timeline", "Export a recorded timeline as a Chrome/Perfetto trace.");
  options->add_option("RESULT", o->path, "a result of tessera run with [record] timeline = true")->required();
  options->add_option("-o,--output", o->output, "the trace to write (JSON; https://ui.perfetto.dev opens it)")
      ->required();
  options->add_option("--devices", o->devices, "only these, such as 0,8-15")->type_name("LIST");
  options->add_option("--from", o->from, "only what goes on at this time or later, such as \"1.5 ms\"")
      ->type_name("TIME");
  options->add_option("--to", o->to, "only what begins before this time")->type_name("TIME");
  options->add_flag("--force", o->force, "replace an existing output");
  return {options, [o] { return guarded(false, [&] { return timeline(*o); }); }};
}

}  // namespace tessera::app
