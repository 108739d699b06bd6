#include "tessera/pdes/model.hpp"

#include <fmt/format.h>

#include "tessera/base/error.hpp"

namespace tessera::pdes {

namespace {

/// Collects what is wrong with a graph, a line a problem; large graphs repeat themselves, so only the first are kept.
class Problems {
 public:
  void add(const std::string& problem) {
    if (++count_ <= 8) text_ += (text_.empty() ? "" : "\n") + problem;
  }
  void throw_if_any() const {
    if (count_ == 0) return;
    throw InternalError(count_ <= 8 ? text_ : fmt::format("{}\n... and {} more", text_, count_ - 8));
  }

 private:
  std::string text_;
  int count_ = 0;
};

void check_sizes(const ModelGraph& model, Problems& problems) {
  const auto size = [&](const char* what, std::size_t count) {
    if (count != 0 && count != model.components) {
      problems.add(fmt::format("the model has {} components but {} {}", model.components, count, what));
    }
  };
  size("weights", model.weights.size());
  size("groups", model.groups.size());
  size("positions", model.positions.size());
  if (!model.create) problems.add("the model has no function that creates its components");
  for (ComponentId id = 0; id < model.weights.size(); ++id) {
    if (!(model.weights[id] >= 0)) {
      problems.add(fmt::format("{} has the weight {}, allowed are 0 and more", name_of(model, id), model.weights[id]));
    }
  }
}

void check_links(const ModelGraph& model, std::vector<bool>& connected, Problems& problems) {
  for (std::size_t k = 0; k < model.links.size(); ++k) {
    const LinkInfo& link = model.links[k];
    if (link.from >= model.components || link.to >= model.components) {
      problems.add(fmt::format("link {} leads from component {} to component {}, but the model has {} components", k,
                               link.from, link.to, model.components));
      continue;
    }
    if (link.latency < 0 || link.latency == never) {
      problems.add(fmt::format("the link from {} to {} has a latency of {} ps, allowed are 0 and more",
                               name_of(model, link.from), name_of(model, link.to), link.latency));
    }
    if (link.protocol != nullptr && model.handles && model.handles(link.to) != link.protocol) {
      problems.add(fmt::format("the link from {} to {} carries a protocol that {} does not handle",
                               name_of(model, link.from), name_of(model, link.to), name_of(model, link.to)));
    }
    connected[link.from] = connected[link.to] = true;
  }
}

void check_crossbars(const ModelGraph& model, std::vector<bool>& connected, Problems& problems) {
  std::vector<bool> member(model.components);
  for (const Crossbar& crossbar : model.crossbars) {
    if (crossbar.first >= model.components || crossbar.count > model.components - crossbar.first ||
        crossbar.count == 0) {
      problems.add(fmt::format("a crossbar spans {} components from {}, but the model has {} components",
                               crossbar.count, crossbar.first, model.components));
      continue;
    }
    if (crossbar.latency < 0 || crossbar.latency == never) {
      problems.add(fmt::format("the crossbar from {} has a latency of {} ps, allowed are 0 and more",
                               name_of(model, crossbar.first), crossbar.latency));
    }
    for (ComponentId id = crossbar.first; id < crossbar.first + crossbar.count; ++id) {
      if (member[id]) problems.add(fmt::format("{} is a member of two crossbars", name_of(model, id)));
      member[id] = true;
      if (crossbar.count > 1) connected[id] = true;
    }
  }
}

}  // namespace

std::string name_of(const ModelGraph& model, ComponentId id) {
  return model.name ? model.name(id) : fmt::format("component {}", id);
}

void check_model(const ModelGraph& model) {
  Problems problems;
  if (model.components == 0) problems.add("the model has no components");
  std::vector<bool> connected(model.components);
  check_sizes(model, problems);
  check_links(model, connected, problems);
  check_crossbars(model, connected, problems);
  if (model.components > 1 && !model.unconnected_allowed) {
    for (ComponentId id = 0; id < model.components; ++id) {
      if (!connected[id]) problems.add(fmt::format("{} has no link, so nothing can reach it", name_of(model, id)));
    }
  }
  problems.throw_if_any();
}

}  // namespace tessera::pdes
