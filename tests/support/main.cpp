// The entry point of the serial test programs.
#include "support/run_tests.hpp"

int main(int argc, char** argv) { return tessera::test::run_tests(argc, argv); }
