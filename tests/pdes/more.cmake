# The bench's calendar queue keeps the contract of the pending-event sets, too.
target_include_directories(test_pdes PRIVATE ${PROJECT_SOURCE_DIR}/bench/support)
