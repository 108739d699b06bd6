# What strategies write is simulated here, from their private headers ("strategy/mcm/package_program.hpp").
target_include_directories(test_experiment PRIVATE ${PROJECT_SOURCE_DIR}/src)
