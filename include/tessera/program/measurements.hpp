// Times that searches have measured by simulating, which need not be measured again.
#pragma once

#include <functional>
#include <map>
#include <string>

#include "tessera/base/time.hpp"

namespace tessera::program {

/// By a text that says what was measured; the machine, the cost model and everything else that is the same for a whole
/// search is not in it. What was measured once is the same for ever, so nothing but the time that a search takes
/// depends on what is known.
class Measurements {
 public:
  /// The known time, or what `measure` returns, which is known from then on.
  [[nodiscard]] Time time(const std::string& what, const std::function<Time()>& measure);

  /// Known times as a text, sorted, and with a hash of all that by which a text that was cut off is recognised.
  [[nodiscard]] std::string text() const;
  /// Adds those of such a text. False: it is none, and nothing is added.
  bool add(const std::string& text);
  /// Whether anything was measured.
  [[nodiscard]] bool is_new() const { return is_new_; }

 private:
  std::map<std::string, Time> known_;
  bool is_new_ = false;
};

}  // namespace tessera::program
