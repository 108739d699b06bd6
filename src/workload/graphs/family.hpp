// From a family's keys and a function that builds with them to its registration.
#pragma once

#include <functional>
#include <string>

#include "network_builder.hpp"
#include "tessera/base/error.hpp"
#include "tessera/workload/network.hpp"

namespace tessera::workload::graphs {

/// The keys that every network has, in the schema of a family whose Keys are NetworkKeys and more.
template <class Keys>
void add_common(config::Schema<Keys>& s) {
  s.text("name", &Keys::name, "of the network");
  s.text("network", &Keys::network, "its family: whose keys the others are");
  s.text("source", &Keys::source, "where structure and numbers are published").otherwise("");
  s.choice("datatype", &Keys::datatype, datatype_names(), "of weights and of what goes between layers")
      .otherwise("bf16");
  s.integer("batch", &Keys::batch, "samples of one pass").at_least("1").at_most("65536").otherwise("1");
  for (const auto& [key, member, help] :
       {std::tuple{"published_parameters", &Keys::published_parameters, "as the source states them; 0: not"},
        std::tuple{"published_multiply_adds", &Keys::published_multiply_adds,
                   "of one sample, as the source states them or by hand; 0: not"},
        std::tuple{"host_parameters", &Keys::host_parameters,
                   "of the published ones: tables that the host looks up, which are no part of the graph"}})
    s.integer(key, member, help).at_least("0").otherwise("0");
}

/// Side of a square image with three channels.
template <class Keys>
void add_image(config::Schema<Keys>& s, const std::string& usual) {
  s.integer("image", &Keys::image, "side of the image, in pixels").at_least("1").at_most("8192").otherwise(usual);
}

template <class Keys>
void add_classes(config::Schema<Keys>& s, const std::string& usual) {
  s.integer("classes", &Keys::classes, "that are told apart").at_least("1").at_most("1000000").otherwise(usual);
}

/// Of networks that tell classes apart in square images.
struct ImageKeys : NetworkKeys {
  std::int64_t image = 0, classes = 0;
};
template <class Keys>
void add_image_and_classes(config::Schema<Keys>& s, const std::string& usual_image, const std::string& usual_classes) {
  add_image(s, usual_image);
  add_classes(s, usual_classes);
}

/// A schema with the common keys and what `declare` adds.
template <class Keys>
config::Schema<Keys> family_schema(const std::string& name, const std::string& help,
                                   const std::function<void(config::Schema<Keys>&)>& declare) {
  config::Schema<Keys> s("network." + name, help);
  add_common(s);
  declare(s);
  return s;
}

/// `build` may throw InputError for keys that do not fit together: it stands at the table.
template <class Keys>
NetworkFamily family(const std::string& name, const std::string& help,
                     const std::function<void(config::Schema<Keys>&)>& declare,
                     const std::function<void(const Keys&, NetworkBuilder&)>& build) {
  const auto schema = std::make_shared<config::Schema<Keys>>(family_schema<Keys>(name, help, declare));
  return {name, help, [schema]() -> const config::SchemaBase& { return *schema; },
          [schema, build](const config::Table& table, config::Diagnostics& diagnostics) {
            const std::size_t before = diagnostics.errors().size();
            const Keys keys = schema->read(table, diagnostics);
            Graph graph;
            if (diagnostics.errors().size() != before) return graph;
            graph.name = keys.name;
            NetworkBuilder builder(graph, keys.datatype, keys.batch);
            try {
              build(keys, builder);
            } catch (const InputError& error) {
              diagnostics.error(table.where(), keys.name + ": " + error.what());
            }
            return graph;
          }};
}

}  // namespace tessera::workload::graphs
