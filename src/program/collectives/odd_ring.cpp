#include "odd_ring.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <string>
#include <unordered_set>

namespace tessera::program {
namespace {

using Neighbours = std::vector<std::vector<std::uint32_t>>;

constexpr std::uint32_t nowhere = std::numeric_limits<std::uint32_t>::max();
/// So many are followed at most: more than there are on a mesh of seven columns, and enough on one of eleven.
constexpr std::size_t most_states = 1000;

/// An edge between members, by their places in the order in which they are looked at.
struct Edge {
  std::uint32_t early = 0, late = 0;
};

/// Finds a cycle over all members but one edge by edge: every edge is taken or not. What counts of the choices so far
/// is which ends of paths belong together, and there are few such states where the members that have edges on both
/// sides are few (the frontier: on a mesh a column or a row). So all choices are followed at once, one of each state.
class CycleSearch {
 public:
  /// Members are numbered in the order in which they are looked at.
  CycleSearch(std::uint32_t size, std::vector<Edge> edges, std::vector<char> may_stay_out)
      : size_(size), edges_(std::move(edges)), may_stay_out_(std::move(may_stay_out)), leaving_(edges_.size()) {
    std::vector<std::size_t> last(size_, 0);
    for (std::size_t i = 0; i < edges_.size(); ++i) last[edges_[i].early] = last[edges_[i].late] = i;
    for (std::uint32_t member = 0; member < size_ && !edges_.empty(); ++member)
      leaving_[last[member]].push_back(member);
  }

  /// The edges of a cycle; none where none was found.
  std::vector<Edge> find() {
    State start;
    start.other_end.resize(size_);
    std::iota(start.other_end.begin(), start.other_end.end(), 0U);
    std::vector<State> states{start};
    for (std::size_t i = 0; i < edges_.size(); ++i) {
      layers_.emplace_back();
      known_.clear();
      std::vector<State> next;
      for (std::uint32_t from = 0; from < states.size(); ++from) {
        if (closes(states[from], edges_[i])) return edges_of(i, from);
        State taken = states[from];
        if (take(taken, edges_[i])) keep(std::move(taken), i, {from, true}, next);
        keep(std::move(states[from]), i, {from, false}, next);
      }
      states = std::move(next);
    }
    return {};
  }

 private:
  /// Of a member: itself while it has no edge, the other end of the path whose end it is, nowhere with two edges.
  struct State {
    std::vector<std::uint32_t> other_end;
    bool left_out = false;  ///< one member is
  };
  struct Choice {
    std::uint32_t before = 0;  ///< state
    bool taken = false;
  };

  /// Whether this edge closes a path to a cycle, and nobody is missing but one who may.
  [[nodiscard]] bool closes(const State& state, const Edge& edge) const {
    if (state.other_end[edge.early] != edge.late || state.other_end[edge.late] != edge.early) return false;
    std::uint32_t missing = state.left_out ? 1 : 0;
    for (std::uint32_t member = 0; member < size_; ++member) {
      const std::uint32_t end = state.other_end[member];
      if (member == edge.early || member == edge.late || end == nowhere) continue;
      if (end != member || may_stay_out_[member] == 0 || ++missing > 1) return false;
    }
    return missing == 1;
  }

  [[nodiscard]] static bool take(State& state, const Edge& edge) {
    const std::uint32_t early = state.other_end[edge.early], late = state.other_end[edge.late];
    if (early == nowhere || late == nowhere || early == edge.late) return false;
    state.other_end[edge.early] = state.other_end[edge.late] = nowhere;
    state.other_end[early] = late;
    state.other_end[late] = early;
    return true;
  }

  /// Behind edge `i`, where it is worth it: members without edges to come must have two, but one.
  void keep(State state, std::size_t i, Choice choice, std::vector<State>& next) {
    for (const std::uint32_t member : leaving_[i]) {
      const std::uint32_t end = state.other_end[member];
      if (end == nowhere) continue;
      if (end != member || state.left_out || may_stay_out_[member] == 0) return;
      state.left_out = true;
      state.other_end[member] = nowhere;
    }
    if (next.size() == most_states || !known_.insert(key_of(state)).second) return;
    layers_.back().push_back(choice);
    next.push_back(std::move(state));
  }

  /// Members before the first open one have two edges or are left out, those behind the last one have none.
  [[nodiscard]] static std::u32string key_of(const State& state) {
    const auto open = [&](std::uint32_t member) { return state.other_end[member] != nowhere; };
    const auto size = static_cast<std::uint32_t>(state.other_end.size());
    std::uint32_t begin = 0, end = size;
    while (begin < end && !open(begin)) ++begin;
    while (end > begin && state.other_end[end - 1] == end - 1) --end;
    std::u32string key(2 + end - begin, U'\0');
    key[0] = begin;
    key[1] = state.left_out ? 1 : 0;
    std::copy(state.other_end.begin() + begin, state.other_end.begin() + end, key.begin() + 2);
    return key;
  }

  [[nodiscard]] std::vector<Edge> edges_of(std::size_t closing, std::uint32_t state) const {
    std::vector<Edge> taken{edges_[closing]};
    for (std::size_t i = closing; i-- > 0;) {
      const Choice choice = layers_[i][state];
      if (choice.taken) taken.push_back(edges_[i]);
      state = choice.before;
    }
    return taken;
  }

  std::uint32_t size_;
  std::vector<Edge> edges_;  // in order of their later member
  std::vector<char> may_stay_out_;
  std::vector<std::vector<std::uint32_t>> leaving_;  // members whose last edge it is, by edge
  std::vector<std::vector<Choice>> layers_;          // by edge and state behind it
  std::unordered_set<std::u32string> known_;         // of the layer
};

/// Ranks line by line along the shorter side of where they stand, so that the frontier is one line.
std::vector<std::uint32_t> in_lines(const Group& group, const machine::Machine& machine) {
  std::vector<std::uint32_t> ranks(group.members.size());
  std::iota(ranks.begin(), ranks.end(), 0U);
  const auto place = [&](std::uint32_t rank) -> const machine::DevicePlace& {
    return machine.places[group.members[rank]];
  };
  const auto [left, right] = std::ranges::minmax(ranks, {}, [&](std::uint32_t rank) { return place(rank).x; });
  const auto [top, bottom] = std::ranges::minmax(ranks, {}, [&](std::uint32_t rank) { return place(rank).y; });
  const bool is_wide = place(right).x - place(left).x > place(bottom).y - place(top).y;
  std::ranges::stable_sort(ranks, {}, [&](std::uint32_t rank) {
    const machine::DevicePlace& at = place(rank);
    return is_wide ? std::array{at.node, at.x, at.y} : std::array{at.node, at.y, at.x};
  });
  return ranks;
}

/// From one end of the first edge on.
std::vector<std::uint32_t> along(const std::vector<Edge>& cycle) {
  std::map<std::uint32_t, std::vector<std::uint32_t>> next;
  for (const Edge& edge : cycle) {
    next[edge.early].push_back(edge.late);
    next[edge.late].push_back(edge.early);
  }
  std::vector<std::uint32_t> order{next.begin()->first};
  std::uint32_t before = nowhere;
  while (order.size() < cycle.size()) {
    const std::vector<std::uint32_t>& both = next[order.back()];
    const std::uint32_t chosen = both[0] == before ? both[1] : both[0];
    before = order.back();
    order.push_back(chosen);
  }
  return order;
}

/// By rank, 0 or 1, where all edges lead from one to the other, as on a mesh; none where some do not.
std::vector<char> colours_of(const Neighbours& neighbours) {
  constexpr char unknown = 2;
  std::vector<char> colours(neighbours.size(), unknown);
  std::vector<std::uint32_t> open{0};
  colours[0] = 0;
  while (!open.empty()) {
    const std::uint32_t from = open.back();
    open.pop_back();
    for (const std::uint32_t to : neighbours[from]) {
      if (colours[to] == colours[from]) return {};
      if (colours[to] != unknown) continue;
      colours[to] = static_cast<char>(1 - colours[from]);
      open.push_back(to);
    }
  }
  return std::ranges::count(colours, unknown) > 0 ? std::vector<char>{} : colours;
}

/// By rank, who may stay out: a cycle has as many members of each colour.
std::vector<char> may_stay_out(const Neighbours& neighbours, std::size_t of_left_out) {
  const std::vector<char> colours = colours_of(neighbours);
  const auto ones = std::ranges::count(colours, 1), zeros = std::ranges::count(colours, 0);
  std::vector<char> may(neighbours.size());
  for (std::uint32_t rank = 0; rank < may.size(); ++rank) {
    const bool evens = colours.empty() || (colours[rank] == 1 ? ones - zeros : zeros - ones) == 1;
    may[rank] = evens && neighbours[rank].size() >= of_left_out ? 1 : 0;
  }
  return may;
}

/// Ranks along a cycle over all members but one that has so many neighbours; none where none was found.
std::vector<std::uint32_t> cycle_of(const Neighbours& neighbours, const std::vector<std::uint32_t>& ranks,
                                    std::size_t of_left_out) {
  const auto size = static_cast<std::uint32_t>(ranks.size());
  std::vector<std::uint32_t> places(size);
  for (std::uint32_t place = 0; place < size; ++place) places[ranks[place]] = place;
  std::vector<Edge> edges;
  const std::vector<char> may_by_rank = may_stay_out(neighbours, of_left_out);
  std::vector<char> may(size);
  for (std::uint32_t late = 0; late < size; ++late) {
    const std::vector<std::uint32_t>& near = neighbours[ranks[late]];
    may[late] = may_by_rank[ranks[late]];
    for (const std::uint32_t other : near)
      if (places[other] < late) edges.push_back({places[other], late});
  }
  std::vector<std::uint32_t> order;
  if (std::ranges::count(may, 1) == 0) return order;
  const std::vector<Edge> cycle = CycleSearch(size, edges, may).find();
  if (cycle.empty()) return order;
  for (const std::uint32_t place : along(cycle)) order.push_back(ranks[place]);
  return order;
}

/// Two neighbours and somebody linked to one of them: the first ones, the third with two links where somebody has.
std::vector<std::uint32_t> pair_of(const Neighbours& neighbours, std::size_t of_left_out) {
  for (std::uint32_t left_out = 0; left_out < 3; ++left_out) {
    const std::uint32_t one = left_out == 0 ? 1 : 0, other = left_out == 2 ? 1 : 2;
    if (neighbours[left_out].size() >= of_left_out && std::ranges::count(neighbours[one], other) > 0)
      return {one, other};
  }
  return {};
}

}  // namespace

std::shared_ptr<const OddRing> odd_ring_of(const Group& group, const machine::Machine& machine) {
  const auto size = static_cast<std::uint32_t>(group.members.size());
  if (size < 3 || size % 2 == 0) return nullptr;
  const Neighbours neighbours = neighbours_of(own_links_of(group, machine));
  auto found = std::make_shared<OddRing>();
  for (const std::size_t of_left_out : {2, 1}) {
    if (!found->order.empty()) break;
    found->order =
        size == 3 ? pair_of(neighbours, of_left_out) : cycle_of(neighbours, in_lines(group, machine), of_left_out);
  }
  if (found->order.empty()) return nullptr;
  found->positions.assign(size, nowhere);
  for (std::uint32_t i = 0; i < found->order.size(); ++i) found->positions[found->order[i]] = i;
  found->left_out = static_cast<std::uint32_t>(std::ranges::find(found->positions, nowhere) - found->positions.begin());
  const std::vector<std::uint32_t>& joined = neighbours[found->left_out];
  found->joins = {found->positions[joined.front()], found->positions[joined.back()]};
  return found;
}

}  // namespace tessera::program
