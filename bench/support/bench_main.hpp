// What the main function of a bench does with its options.
#pragma once

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <exception>

namespace tessera::bench {

/// Reads the command line into what `app` binds, then calls `run`; the exit code.
template <class Run>
int main_of(CLI::App& app, int argc, char** argv, Run&& run) {
  CLI11_PARSE(app, argc, argv);
  try {
    run();
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
  }
  return 0;
}

}  // namespace tessera::bench
