// What a shell script says without being run.
#include <catch2/catch.hpp>

#include "experiment/import/shell.hpp"

namespace tessera::experiment::importing {
namespace {

using Lines = std::vector<std::string>;

/// Each command as one text; a variable without a value is "<NAME>".
Lines commands(const std::string& text, const std::map<std::string, std::string>& variables = {}) {
  config::Diagnostics diagnostics;
  const ShellScript script = read_shell(text, "s.sh", variables, diagnostics);
  CHECK(diagnostics.ok());
  Lines lines;
  for (const ShellCommand& command : script.commands) {
    std::string line;
    for (const ShellWord& word : command) {
      const std::string unset = unset_in(word.text);
      line += (line.empty() ? "" : "|") + without_marks(word.text) + (unset.empty() ? "" : "<" + unset + ">");
    }
    lines.push_back(line);
  }
  return lines;
}

Lines shell_errors(const std::string& text) {
  config::Diagnostics diagnostics;
  static_cast<void>(read_shell(text, "s.sh", {}, diagnostics));
  return diagnostics.errors();
}

}  // namespace

TEST_CASE("variables, quotes and lines that go on") {
  CHECK(commands("A=8\nrun --n $A ${A}x \"$A b\" '$A' \\\n  end # not this\n") == Lines{"run|--n|8|8x|8 b|$A|end"});
  CHECK(commands("A='1 2'; run $A \"$A\"") == Lines{"run|1|2|1 2"});
  CHECK(commands("export A=1; A+=0; run ${A:-9} ${B:-9} ${B:-\"x $A\"} ${C:=7}") == Lines{"run|10|9|x 10|7"});
  CHECK(commands("run > out.log 2>&1 --a 1 < in") == Lines{"run|--a|1"});
}

TEST_CASE("lists are put in word by word, also when they grow") {
  const char* script =
      "ARGS=(\n  --a 1 # one\n  --b \"2 3\"\n)\nARGS+=(--c)\nMORE=(\"${ARGS[@]}\" --d)\nrun ${ARGS[@]} end\nrun "
      "\"${MORE[@]}\"\n";
  CHECK(commands(script) == Lines{"run|--a|1|--b|2|3|--c|end", "run|--a|1|--b|2 3|--c|--d"});
}

TEST_CASE("arithmetic") {
  // 8 x (2 + 1) = 24; 25 / 8 = 3 and a rest of 1.
  CHECK(commands("N=2\nW=$((8*($N+1)))\nrun $W $(( W + 1 )) $((25/8)) $((25%8))") == Lines{"run|24|25|3|1"});
  CHECK(commands("run $((1/0)) $((x+1))") == Lines{"run|<1/0>|<x>"});
}

TEST_CASE("what has no value is known by its name, and scripts see no variables but those that are given") {
  CHECK(commands("run --a $HOME b${X}c $(date) $1") == Lines{"run|--a|<HOME>|bc<X>|<(a command)>|<1>"});
  CHECK(commands("A=1\nrun $A $B", {{"A", "5"}, {"B", "6"}}) == Lines{"run|5|6"});
}

TEST_CASE("of a condition the branch that holds is read") {
  const std::string script =
      "if [ ${M} == \"a\" ]; then X=1\nelif [[ $M = b && -n \"$M\" ]]; then\n X=2; else X=3; fi; run $X\n";
  CHECK(commands(script, {{"M", "a"}}) == Lines{"run|1"});
  CHECK(commands(script, {{"M", "b"}}) == Lines{"run|2"});
  CHECK(commands(script, {{"M", "c"}}) == Lines{"run|3"});
  CHECK(commands("if [ -z \"$N\" ] || [ 3 -gt 4 ]; then run a; fi; if [ ! -f x.py ]; then run b; fi") ==
        Lines{"run|a", "run|b"});
  CHECK(commands("if [ 1 -eq 2 ]; then if [ 1 -eq 1 ]; then run a; fi; else run b; fi") == Lines{"run|b"});
}

TEST_CASE("loops and here-documents are left out") {
  config::Diagnostics diagnostics;
  const ShellScript script =
      read_shell("for i in 1 2; do\n  for j in 3; do run $i; done\ndone\ncat <<END > f\nrun --no\nEND\nrun", "s.sh", {},
                 diagnostics);
  REQUIRE(script.commands.size() == 2);
  CHECK(script.commands[0].front().text == "cat");
  CHECK(script.commands[1].front().text == "run");
  CHECK(diagnostics.warnings() == Lines{"s.sh:1:1: \"for\": what it does is left out"});
}

TEST_CASE("words know where they stand, also those of a list") {
  config::Diagnostics diagnostics;
  const ShellScript script = read_shell("A=(\n  --x 1\n)\nrun ${A[@]}\n#SBATCH --nodes=4\n", "s.sh", {}, diagnostics);
  REQUIRE(script.commands.size() == 1);
  CHECK(config::to_string(script.commands[0][1].where) == "s.sh:2:3");
  REQUIRE(script.directives.size() == 1);
  CHECK(script.directives[0].front().text == "--nodes=4");
}

TEST_CASE("what nothing closes is an error at its begin") {
  CHECK(shell_errors("run \"a\nb") == Lines{"s.sh:1:5: a quote that nothing closes"});
  CHECK(shell_errors("run ${a") == Lines{"s.sh:1:5: a bracket that nothing closes"});
  CHECK(shell_errors("run 'a") == Lines{"s.sh:1:5: a quote that nothing closes"});
}

}  // namespace tessera::experiment::importing
