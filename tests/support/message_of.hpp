// What an action complains about.
#pragma once

#include <exception>
#include <string>

namespace tessera::test {

/// The message of the error of type E that `action` throws, or what happened instead.
template <class E, class Action>
[[nodiscard]] std::string message_of(Action&& action) {
  try {
    action();
  } catch (const E& error) {
    return error.what();
  } catch (const std::exception& error) {
    return std::string("another type of error: ") + error.what();
  }
  return "no error";
}

}  // namespace tessera::test
