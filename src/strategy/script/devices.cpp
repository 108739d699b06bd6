#include "devices.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>

namespace tessera::strategy::script {
namespace {

std::string_view trimmed(std::string_view text) {
  const auto blank = [](char c) { return c == ' ' || c == '\t'; };
  while (!text.empty() && blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && blank(text.back())) text.remove_suffix(1);
  return text;
}

std::optional<std::int64_t> number_in(std::string_view text) {
  text = trimmed(text);
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size() || number < 0) return std::nullopt;
  return number;
}

/// "5", "0-7" or "0-63/8". The numbers may be beyond the machine; a range is not longer than the machine has devices,
/// or it is cut.
std::optional<std::vector<std::int64_t>> range_in(std::string_view text, std::int64_t devices) {
  std::optional<std::int64_t> step = 1;
  if (const auto slash = text.find('/'); slash != std::string_view::npos) {
    step = number_in(text.substr(slash + 1));
    text = text.substr(0, slash);
  }
  const auto dash = text.find('-');
  const auto first = number_in(text.substr(0, dash));
  const auto last = dash == std::string_view::npos ? first : number_in(text.substr(dash + 1));
  if (!first || !last || !step || *step == 0 || *last < *first) return std::nullopt;
  std::vector<std::int64_t> numbers;
  for (std::int64_t number = *first; number <= *last; number += *step) {
    numbers.push_back(number);
    if (number >= devices) break;  // reported by its number; the rest adds nothing
  }
  return numbers;
}

/// The numbers as written, without looking at the machine; nothing when it is no list of devices.
std::optional<std::vector<std::int64_t>> numbers_in(const config::Value& value, std::int64_t devices) {
  std::vector<std::int64_t> numbers;
  if (const config::Array* array = value.array()) {
    for (const config::Value& element : *array) {
      const auto* number = std::get_if<std::int64_t>(&element.content());
      if (number == nullptr) return std::nullopt;
      numbers.push_back(*number);
    }
    return numbers;
  }
  const std::string* text = value.string();
  if (text == nullptr) return std::nullopt;
  for (std::string_view rest = *text; !rest.empty();) {
    const auto comma = std::min(rest.find(','), rest.size());
    const auto range = range_in(rest.substr(0, comma), devices);
    if (!range) return std::nullopt;
    numbers.insert(numbers.end(), range->begin(), range->end());
    rest.remove_prefix(std::min(comma + 1, rest.size()));
  }
  return numbers;
}

Devices live_between(program::DeviceId first, program::DeviceId end, const machine::Machine& machine) {
  Devices devices;
  for (program::DeviceId device = first; device < end; ++device) {
    if (machine.alive(device)) devices.push_back(device);
  }
  return devices;
}

}  // namespace

Devices live_devices(const machine::Machine& machine) { return live_between(0, machine.accelerators(), machine); }

std::optional<Devices> read_devices(const config::Value& value, const machine::Machine& machine,
                                    config::Diagnostics& diagnostics) {
  if (value.string() != nullptr && *value.string() == "all") return live_devices(machine);
  if (value.string() != nullptr && *value.string() == "hosts") {
    if (machine.hosts() > 0) return live_between(machine.accelerators(), machine.devices(), machine);
    diagnostics.error(value.where(), "\"devices\": this machine has no hosts");
    return std::nullopt;
  }
  const auto numbers = numbers_in(value, machine.devices());
  if (!numbers || numbers->empty()) {
    diagnostics.error(value.where(),
                      "\"devices\": expected \"all\", \"hosts\", ranges such as \"0-3, 8-11\" or \"0-63/8\", or a "
                      "list of device numbers");
    return std::nullopt;
  }
  Devices devices;
  std::vector<bool> seen(machine.devices(), false);
  for (const std::int64_t number : *numbers) {
    if (number < 0 || number >= machine.devices()) {
      diagnostics.error(value.where(), fmt::format("device {} does not exist, the machine has 0 to {}", number,
                                                   machine.devices() - 1));
      return std::nullopt;
    }
    const auto device = static_cast<program::DeviceId>(number);
    if (seen[device]) {
      diagnostics.error(value.where(), fmt::format("device {} is listed more than once", device));
      return std::nullopt;
    }
    seen[device] = true;
    devices.push_back(device);
  }
  return devices;
}

}  // namespace tessera::strategy::script
