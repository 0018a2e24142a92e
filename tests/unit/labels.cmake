# Sets the labels of the unit tests. CTest reads this file after the lists that gtest_discover_tests() writes; that function
# cannot set a property to a list.
set_tests_properties(${unit_tests_TESTS} PROPERTIES LABELS "fast;unit")
set_tests_properties(${deep_unit_tests} PROPERTIES LABELS "deep;unit")
