# CTest reads this after the tests that gtest_discover_tests() has found, which takes no list as a property.
set_tests_properties(${unit_tests_TESTS} PROPERTIES LABELS "fast;unit")
set_tests_properties(${deep_unit_tests} PROPERTIES LABELS "deep;unit")
