#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "tessera/program/collective.hpp"

namespace tessera::program {
namespace {

std::string check_shares(const Collective& collective, const Group& group) {
  const std::vector<double>& shares = collective.shares;
  if (shares.empty()) return {};
  if (collective.kind != CollectiveKind::all_to_all) return "shares are for all-to-all only";
  if (shares.size() != group.members.size()) {
    return fmt::format("{} shares for {} members", shares.size(), group.members.size());
  }
  const auto valid = [](double share) { return std::isfinite(share) && share >= 0; };
  const auto positive = [](double share) { return share > 0; };
  if (!std::all_of(shares.begin(), shares.end(), valid)) return "a share is negative or not a number";
  return std::any_of(shares.begin(), shares.end(), positive) ? "" : "all shares are 0";
}

}  // namespace

std::string check_collective(const Collective& collective, const Group& group, const machine::Machine& machine) {
  if (collective.element <= Bytes{0}) return fmt::format("an element of {} bytes", collective.element.value());
  if (collective.bytes < Bytes{0}) return fmt::format("a size of {} bytes", collective.bytes.value());
  // What one member receives of all others is given by offsets, which are the parts of all of them together.
  const auto members = std::max<std::int64_t>(1, static_cast<std::int64_t>(group.members.size()));
  if (collective.kind == CollectiveKind::all_to_all &&
      collective.bytes.value() > std::numeric_limits<std::int64_t>::max() / members)
    return fmt::format("a size of {} bytes for {} members: more than is counted", collective.bytes.value(), members);
  if (collective.bytes % collective.element != Bytes{0}) {
    return fmt::format("{} bytes are not a whole number of elements of {} bytes", collective.bytes.value(),
                       collective.element.value());
  }
  if (collective.algorithm.index >= list_of(collective.algorithm).size()) {
    return fmt::format("algorithm {} does not exist", collective.algorithm.index);
  }
  const CollectiveAlgorithm& algorithm = algorithm_of(collective.algorithm);
  if (!algorithm.supports(collective.kind)) {
    return fmt::format("algorithm \"{}\" has no {}", algorithm.name(), name_of(collective.kind));
  }
  if (collective.kind == CollectiveKind::broadcast && collective.root >= group.members.size()) {
    return fmt::format("root {} in a group of {}", collective.root, group.members.size());
  }
  const std::string shares = check_shares(collective, group);
  return shares.empty() ? algorithm.check(collective, group, machine) : shares;
}

}  // namespace tessera::program
