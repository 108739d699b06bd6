// The entry point of the serial test programs: compiled once, since Catch2's own code is slow to compile.
#define CATCH_CONFIG_MAIN
#include <catch2/catch.hpp>
