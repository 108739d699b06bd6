#include "bench_main.hpp"

#include <fmt/core.h>

#include <CLI/CLI.hpp>

#include "tessera/base/error.hpp"

namespace tessera::bench {

int main_of(const std::string& description, const std::vector<Option>& options, int argc, char** argv,
            const std::function<int()>& run) {
  CLI::App app(description);
  for (const Option& option : options) {
    CLI::Option* added =
        std::visit([&](auto* value) { return app.add_option(option.name, *value, option.help); }, option.value);
    added->capture_default_str();
    if (option.positive) added->check(CLI::PositiveNumber);
    if (!option.one_of.empty()) added->check(CLI::IsMember(option.one_of));
  }
  CLI11_PARSE(app, argc, argv);
  try {
    return run();
  } catch (const Error& error) {
    fmt::print(stderr, "{}\n", error.what());
    return static_cast<int>(error.code());
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
  }
}

}  // namespace tessera::bench
