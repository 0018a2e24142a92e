# Installs the build into a fresh prefix and builds the consumer against it twice, by find_package and by pkg-config.
# cmake -DBUILD_DIR=... -DSOURCE_DIR=... -DWORK_DIR=... -DCOMPILER=... -DPKG_CONFIG=... -DGENERATOR=... -DLIBDIR=... -P run.cmake
cmake_minimum_required(VERSION 3.22)

function(run)
  execute_process(COMMAND ${ARGV} RESULT_VARIABLE code)
  if(NOT code EQUAL 0)
    list(JOIN ARGV " " command)
    message(FATAL_ERROR "exit code ${code}: ${command}")
  endif()
endfunction()

# The consumer must find in the example what the program finds there.
function(check_consumer program)
  set(example ${SOURCE_DIR}/testdata/nvshmem-host/prebuilt)
  execute_process(COMMAND ${program} ${example}/deep_ep.o ${example}/libnvshmem_device.a
    RESULT_VARIABLE code OUTPUT_VARIABLE output)
  if(NOT code EQUAL 1 OR NOT output STREQUAL
      "duplicate-definition: nvshmemi_ibgda_device_state_d is defined twice\n")
    message(FATAL_ERROR "${program}: exit code ${code}, output: ${output}")
  endif()
  run(${program} -- ${COMPILER} ${example}/deep_ep.o -shared -o none.so)
  execute_process(COMMAND ${program} -p ${example} RESULT_VARIABLE code ERROR_VARIABLE output)
  if(NOT code EQUAL 2 OR NOT output MATCHES "prebuilt")
    message(FATAL_ERROR "${program} -p, no build folder: exit code ${code}, output: ${output}")
  endif()
endfunction()

set(prefix ${WORK_DIR}/prefix)
file(REMOVE_RECURSE ${WORK_DIR})
run(${CMAKE_COMMAND} --install ${BUILD_DIR} --prefix ${prefix})
run(${prefix}/bin/elfaudit --version)
foreach(file man/man1/elfaudit.1 bash-completion/completions/elfaudit zsh/site-functions/_elfaudit
    fish/vendor_completions.d/elfaudit.fish)
  file(READ ${prefix}/share/${file} text)
  if(NOT text MATCHES "gpu.*arch")
    message(FATAL_ERROR "share/${file} does not know the options")
  endif()
endforeach()

run(${CMAKE_COMMAND} -S ${SOURCE_DIR}/tests/install_test -B ${WORK_DIR}/by-cmake -G ${GENERATOR}
  -DCMAKE_CXX_COMPILER=${COMPILER} -DCMAKE_PREFIX_PATH=${prefix})
run(${CMAKE_COMMAND} --build ${WORK_DIR}/by-cmake)
check_consumer(${WORK_DIR}/by-cmake/consumer)

# An older standard is refused in words.
execute_process(COMMAND ${COMPILER} -std=c++17 -I${prefix}/include -fsyntax-only ${SOURCE_DIR}/tests/install_test/consumer.cpp
  ERROR_VARIABLE output RESULT_VARIABLE code)
if(code EQUAL 0 OR NOT output MATCHES "elfaudit's headers need C\\+\\+20")
  message(FATAL_ERROR "-std=c++17: exit code ${code}: ${output}")
endif()

set(ENV{PKG_CONFIG_PATH} ${prefix}/${LIBDIR}/pkgconfig)
execute_process(COMMAND ${PKG_CONFIG} --cflags --libs elfaudit
  OUTPUT_VARIABLE flags OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
separate_arguments(flags UNIX_COMMAND "${flags}")
run(${COMPILER} -std=c++20 ${SOURCE_DIR}/tests/install_test/consumer.cpp -o ${WORK_DIR}/by-pkg-config ${flags})
check_consumer(${WORK_DIR}/by-pkg-config)
