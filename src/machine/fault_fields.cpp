#include "fault_fields.hpp"

#include <algorithm>
#include <charconv>

#include "tessera/base/error.hpp"

namespace tessera::machine {
namespace {

using namespace config;

std::optional<double> parse_share(const Value& value) {
  double share = 0;
  if (const auto* whole = std::get_if<std::int64_t>(&value.content())) {
    share = static_cast<double>(*whole);
  } else if (const auto* real = std::get_if<double>(&value.content())) {
    share = *real;
  } else if (const std::string* text = value.string()) {
    const char* end = text->data() + text->size();
    const auto [rest, problem] = std::from_chars(text->data(), end, share, std::chars_format::fixed);
    const std::string unit(rest, end);
    if (problem != std::errc() || (unit != "%" && unit != " %")) return std::nullopt;
    share /= 100;
  } else {
    return std::nullopt;
  }
  if (!(share >= least_share && share <= 1)) return std::nullopt;
  return share;
}

class ShareField final : public detail::FieldBase {
 public:
  ShareField(const std::string& key, const std::string& help, detail::Access<double> member)
      : FieldBase(key, help), member_(std::move(member)) {}

  void read(void* object, const Value& value, Diagnostics& diagnostics) const override {
    if (const auto share = parse_share(value)) {
      member_.set(object, *share);
    } else {
      diagnostics.error(value.where(), '"' + key() + "\": expected " + expectation() +
                                           ", at least 0.000001 and at most 1 (for a part that is gone, dead = true)");
    }
  }
  Value write(const void* object, const void*) const override { return {member_.get(object), {}}; }
  bool is_initial(const void* object, const void* initial) const override {
    return !(member_.get(object) < member_.get(initial)) && !(member_.get(initial) < member_.get(object));
  }
  std::string expectation() const override { return "a share such as 0.5 or \"50 %\""; }
  ParameterHelp describe() const override { return {"", "share", "", "0.000001 to 1", "", ""}; }

 protected:
  Value parse_fallback(const std::string& text) const override { misuse("has no default (" + text + ")"); }

 private:
  detail::Access<double> member_;
};

/// A name, or two or three coordinates.
bool is_node(const Value& value) {
  if (value.string() != nullptr) return true;
  const Array* place = value.array();
  return place != nullptr && (place->size() == 2 || place->size() == 3) &&
         std::ranges::all_of(*place,
                             [](const Value& one) { return std::holds_alternative<std::int64_t>(one.content()); });
}

class NodesField final : public detail::FieldBase {
 public:
  NodesField(const std::string& key, const std::string& help, detail::Access<Array> member, bool is_pair)
      : FieldBase(key, help), member_(std::move(member)), is_pair_(is_pair) {}

  void read(void* object, const Value& value, Diagnostics& diagnostics) const override {
    const Array* nodes = value.array();
    if (nodes != nullptr && (!is_pair_ || nodes->size() == 2) && std::ranges::all_of(*nodes, is_node)) {
      member_.set(object, *nodes);
    } else {
      diagnostics.error(value.where(), '"' + key() + "\": expected " + expectation());
    }
  }
  Value write(const void* object, const void*) const override { return {member_.get(object), {}}; }
  bool is_initial(const void* object, const void*) const override { return member_.get(object).empty(); }
  std::string expectation() const override {
    return std::string(is_pair_ ? "two ends" : "nodes") +
           " such as [\"gpu 0\", \"nvswitch 0\"], or coordinates such as [[2, 5], [3, 5]]";
  }
  ParameterHelp describe() const override {
    return {"", is_pair_ ? "two nodes" : "nodes", "", "names or coordinates", "", ""};
  }

 protected:
  Value parse_fallback(const std::string& text) const override { misuse("has no default (" + text + ")"); }

 private:
  detail::Access<Array> member_;
  bool is_pair_;
};

}  // namespace

std::unique_ptr<detail::FieldBase> share_field(const std::string& key, const std::string& help,
                                               detail::Access<double> member) {
  return std::make_unique<ShareField>(key, help, std::move(member));
}

std::unique_ptr<detail::FieldBase> ends_field(const std::string& key, const std::string& help,
                                              detail::Access<Array> member) {
  return std::make_unique<NodesField>(key, help, std::move(member), true);
}

std::unique_ptr<detail::FieldBase> nodes_field(const std::string& key, const std::string& help,
                                               detail::Access<Array> member) {
  return std::make_unique<NodesField>(key, help, std::move(member), false);
}

}  // namespace tessera::machine
