// Typed messages: kinds, what travels inside an event and what beside it.
#include <catch2/catch.hpp>

#include "actors.hpp"
#include "tessera/pdes/serialized_message.hpp"

namespace {

using namespace tessera;
using namespace tessera::pdes;
using namespace tessera::pdes::test;

struct Postal;

/// Counts how many of it exist.
struct Note {
  using protocol = Postal;
  explicit Note(int* alive = nullptr) : alive_(alive) { count(1); }
  Note(const Note& other) : text(other.text), alive_(other.alive_) { count(1); }
  Note& operator=(const Note&) = delete;
  ~Note() { count(-1); }
  template <class Archive>
  void serialize(Archive& archive, unsigned) {
    archive& text;
  }
  std::string text;

 private:
  void count(int change) {
    if (alive_ != nullptr) *alive_ += change;
  }
  int* alive_;
};
struct Postal : Protocol<Note> {};

static_assert(Talk::kind_of<Word> == 0 && Talk::kind_of<Letter> == 1 && Talk::message_count == 2);
static_assert(fits_in_event<Word> && !fits_in_event<Letter> && !fits_in_event<Note>);
static_assert(Talk::lists<Word> && !Talk::lists<Note>);  // kind_of<Note> would not compile

}  // namespace

TEST_CASE("a message is read back as it was sent, inside the event or beside it") {
  std::vector<std::int64_t> seen;
  std::vector<Script> scripts(2);
  scripts[0].start = [](Context& context) {
    context.send(OutPort{0}, 5, Word{42});
    Letter letter;
    letter.text = {1, 2, 3, 4, 5, 6, 7, 8};
    context.send(Port<Talk>{{0}}, 6, letter);
  };
  scripts[1].handle = [&](Context& context, const Event& event) {
    switch (event.kind) {
      case Talk::kind_of<Word>:
        seen.push_back(event.as<Word>().value);
        break;
      case Talk::kind_of<Letter>:
        seen.push_back(context.get<Letter>(event).text[7]);
        break;
      default:
        FAIL("no such message");
    }
  };
  play(actors(scripts, {{0, 1, 1, protocol_info<Talk>()}}));
  CHECK(seen == std::vector<std::int64_t>{42, 8});
}

TEST_CASE("messages that own something are destroyed when they were handled, and when they never were") {
  int alive = 0;
  std::vector<std::string> seen;
  std::vector<Script> scripts(2);
  scripts[0].start = [&](Context& context) {
    Note note(&alive);
    note.text = std::string(1000, 'x');
    context.send(OutPort{0}, 5, note);
    context.send(OutPort{0}, 50, note);  // after the end
  };
  scripts[1].handle = [&](Context& context, const Event& event) {
    seen.push_back(context.get<Note>(event).text);
    CHECK(alive == 2);
  };
  ModelGraph model = actors(scripts, {{0, 1, 1}});
  model.protocols.push_back(protocol_info<Postal>());
  RunOptions options;
  options.end = 20;
  play(model, options);
  CHECK(seen == std::vector<std::string>{std::string(1000, 'x')});
  CHECK(alive == 0);
}

TEST_CASE("a message is destroyed as well when its handler throws") {
  int alive = 0;
  std::vector<Script> scripts(1);
  scripts[0].start = [&](Context& context) { context.schedule(1, Note(&alive)); };
  scripts[0].handle = [](Context&, const Event&) { throw InfeasibleError("no"); };
  ModelGraph model = actors(scripts, {});
  model.protocols.push_back(protocol_info<Postal>());
  CHECK(message_of<InfeasibleError>([&] { play(model); }) == "no");
  CHECK(alive == 0);
}

TEST_CASE("a link takes the messages of its protocol only") {
  std::vector<Script> scripts(2);
  scripts[0].start = [](Context& context) { context.send(OutPort{0}, 5, Note()); };
  ModelGraph model = actors(scripts, {{0, 1, 1, protocol_info<Talk>()}});
  model.protocols.push_back(protocol_info<Postal>());
  CHECK(message_of<InternalError>([&] { play(model); }) ==
        "the link from actor 0 to actor 1 carries another protocol than that of the message sent on it");
}

TEST_CASE("reading another message than the one that came is refused") {
  std::vector<Script> scripts(1);
  scripts[0].start = [](Context& context) { context.schedule(5, Letter{}); };
  scripts[0].handle = [](Context& context, const Event& event) { static_cast<void>(context.get<Note>(event)); };
  CHECK(message_of<InternalError>([&] { play(actors(scripts, {})); }) ==
        "event kind 1 from component 0 does not carry the message that is asked of it");
}

TEST_CASE("an out-of-line message needs its protocol in the model, on one rank as on many") {
  std::vector<Script> scripts(1);
  scripts[0].start = [](Context& context) { context.schedule(5, Note()); };
  CHECK(message_of<InternalError>([&] { play(actors(scripts, {})); }) ==
        "a message that does not fit into its event may cross ranks, so its protocol must be among "
        "ModelGraph::protocols");
}
