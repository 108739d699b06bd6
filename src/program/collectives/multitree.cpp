// MultiTree: a tree from every member to all others, all of them built at once from the top down, so that no link has
// two messages of a step; an all-gather goes down the trees, a reduce-scatter up those over the links turned round.
// Source: Huang et al., "Communication algorithm-architecture co-design for distributed deep learning", ISCA 2021,
// section 4. Trees take turns; each grows by one member at a time, where the members that joined first have a link
// left.
#include <algorithm>

#include "algorithms.hpp"
#include "link_schedule.hpp"

namespace tessera::program {
namespace {

/// The trees of all members while they grow.
class Trees {
 public:
  explicit Trees(const OwnLinks& links) : links_(links), trees_(links.size()), used_(links.size()) {
    for (std::uint32_t root = 0; root < links.size(); ++root) {
      trees_[root].joined.assign(links.size(), 0);
      trees_[root].joined[root] = 1;
      trees_[root].open.push_back({root, 0});
    }
    for (std::uint32_t rank = 0; rank < links.size(); ++rank) used_[rank].resize(links[rank].size());
  }

  std::vector<Hop> grow() {
    const std::size_t all = links_.size() * (links_.size() - 1);
    for (std::int64_t step = 0; hops_.size() < all; ++step) {
      for (auto& links : used_) std::ranges::fill(links, 0);
      bool grows = true;
      while (grows) {
        grows = false;
        for (std::uint32_t root = 0; root < links_.size(); ++root) grows = add_one(root, step) || grows;
      }
    }
    return std::move(hops_);
  }

 private:
  struct Joined {
    std::uint32_t rank = 0;
    std::int64_t step = 0;  ///< from which on it can send
  };
  struct Tree {
    std::vector<char> joined;  ///< by rank
    std::vector<Joined> open;  ///< in the order in which they joined; those whose neighbours have not all joined
  };

  bool add_one(std::uint32_t root, std::int64_t step) {
    Tree& tree = trees_[root];
    const auto has_joined = [&](const OwnLink& link) { return tree.joined[link.to] != 0; };
    std::erase_if(tree.open, [&](const Joined& at) { return std::ranges::all_of(links_[at.rank], has_joined); });
    for (const Joined& parent : tree.open) {
      if (parent.step > step) return false;
      for (std::size_t i = 0; i < links_[parent.rank].size(); ++i) {
        const std::uint32_t child = links_[parent.rank][i].to;
        if (used_[parent.rank][i] != 0 || tree.joined[child] != 0) continue;
        used_[parent.rank][i] = tree.joined[child] = 1;
        hops_.push_back({parent.rank, child, root, step, step + 1});
        tree.open.push_back({child, step + 1});
        return true;
      }
    }
    return false;
  }

  const OwnLinks& links_;
  std::vector<Tree> trees_;              // by root
  std::vector<std::vector<char>> used_;  // in this step, by member and link
  std::vector<Hop> hops_;
};

class MultiTree final : public LinkAlgorithm {
 public:
  std::string name() const override { return "multitree"; }
  std::string help() const override {
    return "a tree from each member over the links between them, all trees side by side, no link twice in a step";
  }

 private:
  Hops hops(const OwnLinks& links) const override { return {1, Trees(links).grow()}; }
};

}  // namespace

AlgorithmPointer make_multitree() { return std::make_shared<MultiTree>(); }

}  // namespace tessera::program
