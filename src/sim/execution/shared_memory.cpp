#include "sim/execution/shared_memory.hpp"

#include <algorithm>
#include <utility>

#include "tessera/base/error.hpp"

namespace tessera::sim {
namespace {

std::uint64_t line_key(machine::NodeId other, std::uint32_t channel) {
  return static_cast<std::uint64_t>(channel) << 32U | other;
}

/// A device has few lines in use at a time.
template <class Line>
Line& line_of(std::vector<Line>& lines, std::uint64_t key) {
  const auto found = std::ranges::find(lines, key, &Line::key);
  if (found != lines.end()) return *found;
  lines.emplace_back().key = key;
  return lines.back();
}

}  // namespace

void SharedMemory::restore(State saved) {
  server_.state() = std::move(saved.server);
  operators_.state() = std::move(saved.operators);
  messages_ = std::move(saved.messages);
}

void SharedMemory::compute(const ComputeJob& job, Time now) {
  operators_.queue(job);
  operators_.begin_next(now, server_, *costs_);
}

void SharedMemory::add(std::uint32_t stream, std::int64_t traffic, Time now) {
  server_.add(now, {MemoryUser::Kind::addition, stream}, traffic);
}

void SharedMemory::send(const OwnMessage& message, std::uint32_t port, Time now, MemoryOwner& owner) {
  OutLine& line = line_of(messages_.out, line_key(message.destination, message.name.channel));
  line.messages.push({message, port});
  if (line.messages.size() > 1) return;
  begin_read(line, now, [&](const OwnMessage& leaves, std::uint32_t to) { owner.leaves_memory(leaves, to); });
}

// The last packet follows by itself.
void SharedMemory::leave_out_last(OwnMessage& message) const {
  --message.packets_left;
  message.last_bytes = tables_->packet();
  message.goes_on = true;
}

// All but the last packet go to the port at once.
void SharedMemory::begin_read(OutLine& line, Time now,
                              const std::function<void(const OwnMessage&, std::uint32_t)>& leaves) {
  while (!line.messages.empty()) {
    auto [message, port, last_begins] = line.messages.front();
    message.joined = now;
    if (message.bytes == 0) {
      static_cast<void>(line.messages.pop());
      leaves(message, port);
      continue;
    }
    server_.add(now, {MemoryUser::Kind::read, line.key}, message.bytes);
    if (message.packets_left == 1) return;
    const Time earliest =
        time_after(now, tables_->rate(first_link_ + port).up((message.packets_left - 1) * tables_->packet()));
    if (server_.takes_rounds() && read_by(line) < earliest) {
      line.messages[0].last_begins = earliest;
      return leaves(message, port);
    }
    leave_out_last(message);
    return leaves(message, port);
  }
}

void SharedMemory::leaves_later(const OwnMessage& message, std::uint32_t port) {
  messages_.happened.push_back({MemoryUser::Kind::read, 0, port, message});
}

// Its last packet goes as well.
void SharedMemory::read(OutLine& line, Time now) {
  auto [message, port, last_begins] = line.messages.pop();
  if (last_begins == 0) {
    message.packets_left = 1;
    message.joined = now;
    leaves_later(message, port);
  }
  begin_read(line, now, [&](const OwnMessage& leaves, std::uint32_t to) { leaves_later(leaves, to); });
}

bool SharedMemory::holds(std::uint32_t stream, std::uint32_t batch) const {
  const auto is_asked_for = [&](const OwnMessage& message) {
    return message.stream == stream && (batch == any_batch || message.batch == batch);
  };
  for (const OutLine& line : messages_.out) {
    for (std::size_t i = 0; i < line.messages.size(); ++i)
      if (line.messages[i].last_begins == 0 && is_asked_for(line.messages[i].message)) return true;
  }
  return std::ranges::any_of(messages_.happened, [&](const Happened& one) {
    return one.kind == MemoryUser::Kind::read && is_asked_for(one.message);
  });
}

// Of the message at its front, at the latest, with all that is known to come: whoever takes turns with it has as many
// packets until then as it has, and one more where something else follows in its place.
Time SharedMemory::read_by(const OutLine& line) const {
  const auto& flows = server_.state().line;
  const auto moves = [&](MemoryUser::Kind kind, std::uint64_t key) {
    const auto found = std::ranges::find(flows, MemoryUser{kind, key}, &MemoryFlow::of);
    return found == flows.end() ? 0 : found->bytes;
  };
  const std::int64_t mine = moves(MemoryUser::Kind::read, line.key);
  const std::int64_t turns = server_.whole_packets(mine) + server_.packet();
  std::int64_t bytes = mine + (operators_.is_busy() ? turns : 0);
  for (const MemoryFlow& flow : flows)
    if (flow.of.kind == MemoryUser::Kind::addition) bytes += std::min(flow.bytes, turns);
  for (const OutLine& out : messages_.out) {
    if (&out == &line || out.messages.empty()) continue;
    std::int64_t known = moves(MemoryUser::Kind::read, out.key);
    for (std::size_t i = 1; i < out.messages.size(); ++i) known += out.messages[i].message.bytes;
    bytes += std::min(known, turns);
  }
  for (const InLine& in : messages_.in) {
    std::int64_t known = moves(MemoryUser::Kind::written, in.key);
    for (std::size_t i = in.writing == Writing::comes ? 0 : 1; i < in.messages.size(); ++i)
      known += in.messages[i].bytes;
    if (in.writing == Writing::first || in.writing == Writing::waits) known += last_packet(in.messages.front().bytes);
    bytes += std::min(known, turns);
  }
  return server_.end_of(bytes);
}

void SharedMemory::withhold_late(MemoryOwner& owner) {
  for (OutLine& line : messages_.out) {
    if (line.messages.empty() || line.messages.front().last_begins == 0) continue;
    Outgoing& first = line.messages[0];
    if (read_by(line) < first.last_begins) continue;
    first.last_begins = 0;
    const auto is_it = [&](const Happened& one) {
      return one.kind == MemoryUser::Kind::read && one.message.name == first.message.name &&
             one.message.destination == first.message.destination;
    };
    const auto untold = std::ranges::find_if(messages_.happened, is_it);  // it has not gone to its port yet
    untold != messages_.happened.end() ? leave_out_last(untold->message)
                                       : owner.withhold_last(first.message, first.port);
  }
}

std::int64_t SharedMemory::last_packet(std::int64_t bytes) const {
  return bytes - (tables_->packets(bytes) - std::int64_t{1}) * tables_->packet();
}

bool SharedMemory::come(const Segment& segment, Time now) {
  bool is_known = true;
  if (segment.shortens)
    is_known = amend({segment.name, segment.earlier.generation, segment.destination, segment.earlier.packets});
  InLine& line = line_of(messages_.in, line_key(segment.name.sender, segment.name.channel));
  messages_.told.push_back({segment.name, segment.generation, segment.times});
  count_told(find_or_add(line, segment));
  if (line.writing <= Writing::comes) begin_write(line, now);
  return is_known;
}

// They come in the order of their numbers, but may be told of in another one.
SharedMemory::Incoming& SharedMemory::find_or_add(InLine& line, const Segment& segment) {
  std::size_t place = line.messages.size();
  const auto is_behind = [&](const Incoming& one) {
    return static_cast<std::int32_t>(one.name.sequence - segment.name.sequence) > 0;
  };
  while (place > 0 && is_behind(line.messages[place - 1])) --place;
  if (place > 0 && line.messages[place - 1].name == segment.name) return line.messages[place - 1];
  line.messages.push({segment.name, segment.waited_until, segment.bytes});
  for (std::size_t i = line.messages.size() - 1; i > place; --i) std::swap(line.messages[i], line.messages[i - 1]);
  return line.messages[place];
}

bool SharedMemory::amend(const Amend& amend) {
  const auto is_meant = [&](const Told& one) { return one.generation == amend.generation && one.name == amend.name; };
  const auto found = std::ranges::find_if(messages_.told, is_meant);
  if (found == messages_.told.end()) return false;
  found->times.truncate(amend.packets, tables_->rate(found->times.rate), tables_->packet());
  if (amend.packets == 0) messages_.told.erase(found);
  InLine& line = line_of(messages_.in, line_key(amend.name.sender, amend.name.channel));
  for (std::size_t i = 0; i < line.messages.size(); ++i)
    if (line.messages[i].name == amend.name) count_told(line.messages[i]);
  return true;
}

void SharedMemory::count_told(Incoming& message) {
  message.told = message.last = 0;
  message.first = never;
  for (const Told& one : messages_.told) {
    if (!(one.name == message.name)) continue;
    message.told += one.times.bytes(one.times.count, tables_->packet());
    message.first = std::min(message.first, one.times.at(0, tables_->rate(one.times.rate)));
    message.last = std::max(message.last, one.times.last);
  }
}

// When its first packet has come, of which somebody may have told ahead.
void SharedMemory::begin_write(InLine& line, Time now) {
  line.writing = Writing::comes;
  line.since = now;
  if (line.messages.front().first <= now) write_first(line, now);
}

void SharedMemory::write_first(InLine& line, Time now) {
  const Incoming& first = line.messages.front();
  const std::int64_t before = first.bytes - last_packet(first.bytes);
  line.writing = before > 0 ? Writing::first : Writing::waits;
  line.since = now;
  if (before > 0) server_.add(now, {MemoryUser::Kind::written, line.key}, before);
}

void SharedMemory::write_last(InLine& line, Time now) {
  const std::int64_t bytes = last_packet(line.messages.front().bytes);
  line.writing = Writing::last;
  bytes > 0 ? server_.add(now, {MemoryUser::Kind::written, line.key}, bytes) : end_write(line, now);
}

void SharedMemory::end_write(InLine& line, Time now) {
  const Incoming done = line.messages.pop();
  std::erase_if(messages_.told, [&](const Told& one) { return one.name == done.name; });
  Happened comes{MemoryUser::Kind::written, 0, 0, {}};
  comes.message.name = done.name;
  comes.message.waited_until = done.waited_until;
  messages_.happened.push_back(comes);
  line.writing = Writing::nothing;
  if (!line.messages.empty()) begin_write(line, now);
}

// When something comes that is to be written next; never: that has been written, is being written, or nobody knows.
Time SharedMemory::comes_at(const InLine& line) const {
  if (line.writing == Writing::comes) return std::max(line.since, line.messages.front().first);
  if (line.writing != Writing::waits || !is_whole(line.messages.front())) return never;
  return std::max(line.since, line.messages.front().last);
}

SharedMemory::Next SharedMemory::next() const {
  Next next;
  if (const auto end = server_.next_end()) next = {Next::What::moved, end->at, 0};
  for (std::size_t i = 0; i < messages_.in.size(); ++i) {
    const InLine& line = messages_.in[i];
    const Time at = comes_at(line);
    if (at < next.at) next = {Next::What::comes, at, i};
  }
  if (const auto over = operators_.over(); over && *over < next.at) next = {Next::What::operator_over, *over, 0};
  return next;
}

void SharedMemory::go_on(Time now, MemoryOwner& owner) {
  for (Next one = next(); one.what != Next::What::nothing && one.at <= now; one = next()) {
    switch (one.what) {
      case Next::What::moved:
        moved(*server_.end_until(one.at));
        break;
      case Next::What::comes: {
        InLine& line = messages_.in[one.line];
        line.writing == Writing::comes ? write_first(line, one.at) : write_last(line, one.at);
        break;
      }
      case Next::What::operator_over: {
        operators_.skip(now, *costs_);
        const Time over = *operators_.over();
        const auto done = operators_.end();
        operators_.begin_next(over, server_, *costs_);
        if (!done) break;
        owner.computed(*done);
        if (by_job_) messages_.happened.push_back({MemoryUser::Kind::operators, done->job.stream, 0, {}});
        break;
      }
      case Next::What::nothing:
        break;
    }
  }
}

void SharedMemory::moved(const MemoryServer::End& end) {
  switch (end.of.kind) {
    case MemoryUser::Kind::operators:
      return operators_.moved(end.at, *costs_);
    case MemoryUser::Kind::addition:
      messages_.happened.push_back({end.of.kind, static_cast<std::uint32_t>(end.of.key), 0, {}});
      return;
    case MemoryUser::Kind::read:
      return read(line_of(messages_.out, end.of.key), end.at);
    case MemoryUser::Kind::written: {
      InLine& line = line_of(messages_.in, end.of.key);
      if (line.writing == Writing::last) return end_write(line, end.at);
      line.writing = Writing::waits;
      line.since = end.at;
    }
  }
}

void SharedMemory::tell(MemoryOwner& owner) {
  const std::vector<Happened> happened = std::exchange(messages_.happened, {});
  for (const Happened& one : happened) {
    switch (one.kind) {
      case MemoryUser::Kind::addition:
        owner.added(one.stream);
        break;
      case MemoryUser::Kind::read:
        owner.leaves_memory(one.message, one.port);
        break;
      case MemoryUser::Kind::written:
        owner.written(one.message.name, one.message.waited_until);
        break;
      case MemoryUser::Kind::operators:
        owner.job_over(one.stream);
        break;
    }
  }
}

// Whether messages stand behind others in their lines, or are told of before they come.
bool SharedMemory::has_queues() const {
  const auto waits = [](const auto& line) { return line.messages.size() > 1; };
  const auto comes = [](const InLine& line) { return line.writing == Writing::comes; };
  return std::ranges::any_of(messages_.in, comes) || std::ranges::any_of(messages_.out, waits) ||
         std::ranges::any_of(messages_.in, waits);
}

bool SharedMemory::is_whole_at_port(std::uint64_t key) const {
  return std::ranges::find(messages_.out, key, &OutLine::key)->messages.front().last_begins > 0;
}

/// What follows if nothing new comes, on copies.
class SharedMemory::Ahead {
 public:
  Ahead(const SharedMemory& memory, bool line_awaited)
      : memory_(memory), line_awaited_(line_awaited), server_(memory.server_), operators_(memory.operators_) {
    for (const InLine& line : memory.messages_.in) {
      if (line.messages.empty() || !memory.is_whole(line.messages.front())) continue;
      const Incoming& first = line.messages.front();
      lasts_.push_back({line.key, memory.last_packet(first.bytes), first.last, line.writing == Writing::last});
      if (line.writing == Writing::waits) wait(lasts_.back(), line.since);
    }
  }

  /// When there is something to tell, or when to look again.
  Time first_told() {
    constexpr int most_steps = 64;
    Time at = never;
    for (int step = 0; step < most_steps; ++step) {
      const auto end = server_.next_end();
      const auto over = operators_.over();
      const auto soonest = std::ranges::min_element(waiting_, {}, &Last::at);
      const Time moved = end ? end->at : never, comes = soonest == waiting_.end() ? never : soonest->at;
      at = std::min({moved, comes, over.value_or(never)});
      if (at == never) return at;
      if (at == moved ? is_told(*end) : at == comes ? begins_last(*soonest) : ends_operator(at)) return at;
    }
    return at;
  }

 private:
  /// The last packet of a message that comes.
  struct Last {
    std::uint64_t key = 0;
    std::int64_t bytes = 0;
    Time at = 0;
    bool is_moving = false;
  };

  void wait(Last last, Time since) {
    last.at = std::max(last.at, since);
    waiting_.push_back(last);
  }
  bool is_told(const MemoryServer::End& end) {
    if (end.of.kind == MemoryUser::Kind::addition) return true;
    if (end.of.kind == MemoryUser::Kind::read && !memory_.is_whole_at_port(end.of.key)) return true;
    const auto last = std::ranges::find(lasts_, end.of.key, &Last::key);
    const bool writes = end.of.kind == MemoryUser::Kind::written && last != lasts_.end();
    if (writes && last->is_moving) return true;
    static_cast<void>(server_.end_until(end.at));
    if (writes) wait(*last, end.at);
    if (end.of.kind == MemoryUser::Kind::operators) operators_.moved(end.at, *memory_.costs_);
    return false;
  }
  bool begins_last(const Last& last) {
    if (last.bytes == 0) return true;
    server_.add(last.at, {MemoryUser::Kind::written, last.key}, last.bytes);
    std::ranges::find(lasts_, last.key, &Last::key)->is_moving = true;
    waiting_.erase(std::ranges::find(waiting_, last.key, &Last::key));
    return false;
  }
  bool ends_operator(Time at) {
    if (operators_.end() && memory_.by_job_) return true;
    operators_.begin_next(at, server_, *memory_.costs_);
    return line_awaited_ && !operators_.is_busy();
  }

  const SharedMemory& memory_;
  bool line_awaited_;
  MemoryServer server_;
  OperatorLine operators_;
  std::vector<Last> lasts_, waiting_;
};

Time SharedMemory::due(bool line_awaited) const {
  const auto comes = [](const InLine& line) { return !line.messages.empty(); };
  const bool only_operators =
      server_.state().line.size() <= (operators_.moves() ? 1U : 0U) && std::ranges::none_of(messages_.in, comes);
  if (only_operators && !by_job_)
    return line_awaited && operators_.is_busy() ? operators_.all_over(server_, *costs_) : never;
  return has_queues() ? next().at : Ahead(*this, line_awaited).first_told();
}

}  // namespace tessera::sim
