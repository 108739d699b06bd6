#include <boost/archive/text_iarchive.hpp>
#include <boost/archive/text_oarchive.hpp>
#include <boost/serialization/string.hpp>
#include <boost/serialization/vector.hpp>
#include <sstream>
#include <string_view>

#include "tessera/base/hash.hpp"
#include "tessera/program/search/evaluations.hpp"

namespace tessera::program::search {
namespace {

constexpr std::string_view title = "Tessera: evaluations of a search, 1. Hash of what follows: ";

std::string head(const std::string& rest) { return std::string(title) + std::to_string(hash_of(rest)) + "\n"; }

}  // namespace

const Evaluation* Memo::find(std::uint64_t key) const {
  const auto found = known_.find(key);
  return found == known_.end() ? nullptr : &found->second;
}

void Memo::add(std::uint64_t key, Evaluation evaluation) {
  if (known_.emplace(key, std::move(evaluation)).second) added_.insert(key);
}

std::vector<Known> Memo::added() const {
  std::vector<Known> found;
  for (const std::uint64_t key : added_) found.push_back({key, known_.at(key)});
  return found;
}

std::string Memo::text() const {
  std::vector<Known> all;
  for (const auto& [key, evaluation] : known_)
    if (evaluation.feasible) all.push_back({key, evaluation});
  std::ostringstream text;
  boost::archive::text_oarchive(text, boost::archive::no_header) << all;
  const std::string rest = std::move(text).str();
  return head(rest) + rest;
}

bool Memo::read(const std::string& text) {
  const std::size_t end = text.find('\n');
  if (end == std::string::npos) return false;
  const std::string rest = text.substr(end + 1);
  if (text.substr(0, end + 1) != head(rest)) return false;
  std::vector<Known> all;
  std::istringstream stream(rest);
  boost::archive::text_iarchive(stream, boost::archive::no_header) >> all;
  for (Known& one : all) learn(one.key, std::move(one.evaluation));
  return true;
}

}  // namespace tessera::program::search
