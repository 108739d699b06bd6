# Tests of cost models reach into their private headers ("workload/cost/dataflow/mapping.hpp").
target_include_directories(test_workload PRIVATE ${PROJECT_SOURCE_DIR}/src)
