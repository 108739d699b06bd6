// The fastest of many candidates, with searches that are small enough to be followed by hand.
#include <catch2/catch.hpp>

#include "tessera/base/error.hpp"
#include "tessera/program/search/fastest.hpp"

using namespace tessera;
using namespace tessera::program;
using namespace tessera::program::search;

namespace {

/// Candidates by bound, estimate and simulated time.
struct Game {
  std::vector<std::array<Time, 3>> candidates;
  std::vector<std::size_t> asked = {};  // in the order in which they were simulated

  Fastest play(const Limits& limits = {}, std::size_t round = 1) {
    std::vector<Outlook> outlooks;
    for (const auto& [least, estimate, time] : candidates)
      outlooks.push_back({least > 0, least >= 0, "why", least, estimate});
    const Simulate simulate = [&](const std::vector<std::size_t>& some) {
      std::vector<Evaluation> found;
      for (const std::size_t i : some) {
        asked.push_back(i);
        const Time time = candidates[i][2];
        found.push_back(time > 0 ? Evaluation{true, {}, time, {1, 7}} : Evaluation{false, "stuck"});
      }
      return found;
    };
    return fastest(outlooks, simulate, {limits, nullptr, round});
  }
};

using Numbers = std::vector<std::size_t>;

}  // namespace

TEST_CASE("the smallest estimate is simulated first, and bounds above the best end the search") {
  // 1 takes 100. Then 0 might take 95 and takes 120; 2 cannot be below 101.
  Game game{{{95, 110, 120}, {90, 99, 100}, {101, 105, 130}}};
  const Fastest found = game.play();
  CHECK(game.asked == Numbers{1, 0});  // 2 has the second estimate, and its bound strikes it out before its turn
  REQUIRE(found.ranked.size() == 2);
  CHECK(found.ranked[0].candidate == 1);
  CHECK(found.ranked[1].candidate == 0);
  CHECK(found.judged[2].fate == Fate::beaten);
  CHECK(found.gap == 0);
  CHECK(found.table[0].best == 100);
  CHECK(found.table[1].reason == "not the best");
  CHECK(found.table[1].most_memory == 7);  // of the fuller of its two devices
}

TEST_CASE("of candidates that take as long the first is taken, even where its bound is the best time") {
  Game game{{{100, 120, 100}, {80, 90, 100}, {70, 95, 100}}};
  const Fastest found = game.play();
  CHECK(game.asked == Numbers{1, 2, 0});  // 0 can be no faster than 100, but it comes before the others
  CHECK(found.ranked.front().candidate == 0);
}

TEST_CASE("equal estimates are taken in the candidates' order, and what does not fit or run is none") {
  // 0 does not fit, 1 is refused, 3 is found to be stuck.
  Game game{{{-1, 0, 0}, {0, 0, 0}, {10, 50, 60}, {10, 50, 0}, {10, 50, 40}}};
  const Fastest found = game.play();
  CHECK(game.asked == Numbers{2, 3, 4});
  CHECK(found.count(Fate::too_large) == 1);
  CHECK(found.count(Fate::refused) == 2);
  CHECK(found.count(Fate::simulated) == 2);
  CHECK(found.judged[3].reason == "stuck");
  CHECK(found.ranked.front().candidate == 4);
}

TEST_CASE("within: a plan is enough that nothing beats by more") {
  // 100, and what is left might take 97: 3 % faster.
  Game game{{{90, 100, 100}, {97, 110, 98}, {99, 120, 99}}};
  const Fastest close = game.play({0.04});
  CHECK(game.asked == Numbers{0});
  CHECK(close.gap == Approx(0.03));
  CHECK(close.count(Fate::left) == 2);
  game.asked.clear();
  const Fastest closer = game.play({0.02});
  CHECK(game.asked == Numbers{0, 1});  // then 99 is above 98
  CHECK(closer.gap == 0);
}

TEST_CASE("within: one candidate may be enough, so the first rounds are small") {
  // None of them proves anything: rounds of one, two, and from then on three.
  Game game{{{50, 1, 100}, {50, 2, 100}, {50, 3, 100}, {50, 4, 100}, {50, 5, 100}, {50, 6, 100}}};
  std::vector<std::int64_t> rounds;
  for (const Tried& one : game.play({0.02}, 3).table) rounds.push_back(one.step);
  CHECK(rounds == std::vector<std::int64_t>{0, 1, 1, 2, 2, 2});
}

TEST_CASE("a budget of simulations ends a search, which says what is proven by then") {
  Game game{{{50, 100, 100}, {60, 110, 90}, {80, 120, 85}, {70, 130, 200}}};
  const Fastest found = game.play({0, 2}, 8);
  CHECK(game.asked == Numbers{0, 1});
  CHECK(found.ranked.front().candidate == 1);
  CHECK(found.gap == Approx(1 - 70.0 / 90.0));
  CHECK(found.count(Fate::left) == 2);
  CHECK_FALSE(found.is_timed);
}

TEST_CASE("time is over in the midst of a simulation: what was reached bounds its candidate") {
  // 0 takes 100. 1 is cut off at 70, above its bound of 60; 2 at 50, below its bound of 80; 3 is not begun.
  const std::vector<Outlook> outlooks{
      {true, true, "", 50, 90}, {true, true, "", 60, 95}, {true, true, "", 80, 96}, {true, true, "", 99, 97}};
  const auto alone = make_serial_communicator();
  std::size_t rounds = 0;
  const Simulate simulate = [&](const std::vector<std::size_t>& some) {
    std::vector<Evaluation> found;
    for (const std::size_t i : some)
      found.push_back(i == 0 ? Evaluation{true, {}, 100, {1, 7}} : cut_off_at(i == 1 ? 70 : i == 2 ? 50 : 0));
    ++rounds;
    return found;
  };
  Limits hour;
  hour.seconds = 3600;
  const Fastest found = fastest(outlooks, simulate, {hour, alone.get(), 8});
  CHECK(rounds == 2);  // one first, so that something is known early; then all that are left, and nothing behind them
  CHECK(found.is_cut_off);
  CHECK(found.ranked.size() == 1);
  CHECK(found.taken() == 0);
  CHECK(found.judged[1].fate == Fate::unfinished);
  CHECK(found.judged[1].least == 70);
  CHECK(found.judged[2].least == 80);
  CHECK(found.judged[3].fate == Fate::left);
  CHECK(found.open() == 3);
  CHECK(found.gap == Approx(0.3));  // 1 might take 70
  CHECK(found.table[1].at_least == 70);
  CHECK(found.table[1].cost == 0);
  CHECK_FALSE(found.table[1].accepted);
}

TEST_CASE("what is cut off above the best time is struck out, as by a bound") {
  const std::vector<Outlook> outlooks{{true, true, "", 50, 90}, {true, true, "", 60, 95}};
  const auto alone = make_serial_communicator();
  const Simulate simulate = [&](const std::vector<std::size_t>& some) {
    return std::vector<Evaluation>{some[0] == 0 ? Evaluation{true, {}, 100, {1}} : cut_off_at(101)};
  };
  Limits hour;
  hour.seconds = 3600;
  const Fastest found = fastest(outlooks, simulate, {hour, alone.get(), 8});
  CHECK(found.count(Fate::beaten) == 1);
  CHECK(found.open() == 0);
  CHECK(found.gap == 0);
}

TEST_CASE("time is over before anything has been simulated: the least estimate is taken, of what was looked at") {
  Outlook unknown;
  unknown.is_known = false;
  const std::vector<Outlook> outlooks{
      unknown, {true, true, "", 50, 90}, {true, true, "", 40, 80}, {false, false, "large"}};
  const auto alone = make_serial_communicator();
  const Simulate never_asked = [](const std::vector<std::size_t>&) -> std::vector<Evaluation> {
    throw InternalError("nothing is simulated when time is over");
  };
  Limits none;
  none.seconds = 1e-9;
  const Fastest found = fastest(outlooks, never_asked, {none, alone.get(), 8});
  CHECK(found.taken() == 2);
  CHECK(found.time_of_taken() == 80);
  CHECK(found.judged[0].fate == Fate::left);
  CHECK(found.count(Fate::too_large) == 1);
  CHECK(fastest({unknown}, never_asked, {none, alone.get(), 8}).taken() == std::nullopt);
}

TEST_CASE("lists of candidates name the keys that differ among them") {
  FastestReport report;
  report.keys = {"tensor", "pipeline"};
  report.part = [](std::size_t i, const std::vector<std::string>& some) {
    return some[0] == "tensor" ? std::string("tensor 8") : "pipeline " + std::to_string(i);
  };
  CHECK(listed_keys(report, {1, 2}).differing == std::vector<std::string>{"pipeline"});
  CHECK(listed_keys(report, {1, 2}).common == std::vector<std::string>{"tensor"});
  CHECK(listed_keys(report, {1}).common.empty());  // of one alone nothing is left to name it by
}

TEST_CASE("candidates of a round are simulated together, whatever the first of them gives") {
  Game game{{{90, 95, 100}, {99, 96, 110}, {101, 97, 120}, {90, 98, 130}}};
  CHECK(game.play({}, 2).ranked.size() == 3);
  CHECK(game.asked == Numbers{0, 1, 3});
}

TEST_CASE("a simulated time below its bound is a mistake in the program") {
  Game game{{{90, 95, 89}}};
  CHECK_THROWS_AS(game.play(), InternalError);
}

TEST_CASE("how far a search goes is read whole") {
  CHECK(parse_limits("2%", "").within == Approx(0.02));
  CHECK(parse_limits("0.5 %", "200").evaluations == 200);
  CHECK(parse_limits("", "10 min").seconds == Approx(600));
  for (const char* wrong : {"2", "-1%", "100%", "x%", "nan%"}) CHECK_THROWS_AS(parse_limits(wrong, ""), InputError);
  for (const char* wrong : {"0", "-3", "ten", "10 GB", "1.5"}) CHECK_THROWS_AS(parse_limits("", wrong), InputError);
}
