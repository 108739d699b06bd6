#include "command.hpp"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <new>

#include "tessera/base/together.hpp"

namespace tessera::app {

std::string Arguments::text() const {
  std::string line;
  for (int i = 0; i < count; ++i) {
    const std::string word = values[i];
    const bool plain = !word.empty() && word.find_first_of(" \t\"'\\$`*?[]{}();&|<>#~\n") == std::string::npos;
    std::string quoted = "'";
    for (const char c : word) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
    line += (i == 0 ? "" : " ") + (plain ? word : quoted + "'");
  }
  return line;
}

void print(const std::string& text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0) return;
  throw IoError(std::string("cannot write to standard output: ") + std::strerror(errno));
}

void warn(const std::string& text) {
  if (!text.empty()) std::fprintf(stderr, "warning: %s\n", text.c_str());
}

std::string internal_message(const std::string& what) {
  return "internal error: " + what +
         "\nThis is a fault of Tessera, not of the input. Please report it with the experiment file, the command line "
         "and " +
         "the output of tessera --version.";
}

ExitCode guarded(bool silent, const std::function<ExitCode()>& action) {
  const auto say = [silent](const std::string& text) {
    if (!silent) std::fprintf(stderr, "%s\n", text.c_str());
  };
  try {
    return action();
  } catch (const Error& error) {
    say(error.code() == ExitCode::internal ? internal_message(error.what()) : error.what());
    return error.code();
  } catch (const std::bad_alloc&) {
    say(out_of_memory);
    return ExitCode::io;
  } catch (const std::exception& error) {
    say(internal_message(error.what()));
    return ExitCode::internal;
  }
}

}  // namespace tessera::app
