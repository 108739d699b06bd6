// What the main function of a bench does with its options. CLI11's header takes longer to compile than a bench does, so
// bench_main.cpp alone reads it.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <type_traits>
#include <variant>
#include <vector>

namespace tessera::bench {

/// An option ("--name") or a positional argument ("name"); what stands in its value is the default.
struct Option {
  using Value =
      std::variant<std::string*, double*, int*, std::int64_t*, std::uint32_t*, std::uint64_t*,
                   std::vector<std::string>*, std::vector<double>*, std::vector<int>*, std::vector<std::uint64_t>*>;
  std::string name;
  Value value;
  std::string help;
  bool positive = false;              ///< others are refused
  std::vector<std::string> one_of{};  ///< where there are any, others are refused
};

/// Reads the command line into the options' values, then calls `run`, whose result is the exit code; an exception of it
/// becomes one line and a code.
int main_of(const std::string& description, const std::vector<Option>& options, int argc, char** argv,
            const std::function<int()>& run);
/// The same of one without a result: 0.
template <class Run>
requires std::is_void_v<std::invoke_result_t<const Run&>>
int main_of(const std::string& description, const std::vector<Option>& options, int argc, char** argv, const Run& run) {
  return main_of(description, options, argc, argv, std::function<int()>([&run] { return run(), 0; }));
}

}  // namespace tessera::bench
