// Catch2's own code, which is slow to compile, once for all test programs.
#pragma once

namespace tessera::test {

/// Runs the test cases that the command line names; the program's exit code.
int run_tests(int argc, char** argv);

}  // namespace tessera::test
