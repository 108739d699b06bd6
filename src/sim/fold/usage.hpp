// When links are in use, of two simulations of the same machine that have to leave each other alone.
#pragma once

#include <vector>

#include "sim/fold/splits.hpp"
#include "sim/laws/trains/train_port.hpp"

namespace tessera::sim {

/// By link. Runs of packets and messages of rings that follow each other count as one use.
class Usage final : public PacketTrace {
 public:
  struct Span {
    Time begin = 0, end = 0;
    Time latest = 0;  ///< behind sort(): end of those up to this one
  };
  /// `splits` outlives it. Of what ends before the first one starts, little is kept; null: all is.
  Usage(std::size_t links, const Splits* splits) : splits_(splits), spans_(links) {}

  [[nodiscard]] bool wants_packets() const override { return false; }
  void packets_left(machine::LinkId, const MessageName&, machine::NodeId, const PacketTimes&) override {}
  void in_use(machine::LinkId link, Time begin, Time end) override;
  /// Later uses are not of interest.
  void ignore_from(Time time) { until_ = time; }
  /// Puts those of each link into order of their beginnings, with the latest end of those before.
  void sort();
  /// When the last one ends.
  [[nodiscard]] Time last() const { return last_; }
  [[nodiscard]] const std::vector<Span>& of(machine::LinkId link) const { return spans_[link]; }

 private:
  const Splits* splits_;
  std::vector<std::vector<Span>> spans_;
  Time until_ = never, last_ = 0;
};

/// When some of these touch each other first; never: they do not. The second ones are sorted.
[[nodiscard]] Time first_meeting(const std::vector<Usage::Span>& ours, const std::vector<Usage::Span>& sorted);

}  // namespace tessera::sim
