// What an action complains about.
#pragma once

#include <functional>
#include <string>

namespace tessera::test {

/// The words of the error that it throws, of that type.
template <class Expected>
std::string message_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const Expected& error) {
    return error.what();
  }
  return "no such error";
}

}  // namespace tessera::test
