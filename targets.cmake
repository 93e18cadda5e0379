# One function per kind of target, so that every folder's CMakeLists.txt reads as a list of what it holds.
#
#   plumbline_library(plumbline_model SOURCES model.cc DEPENDS plumbline_scenario)
#   plumbline_test(model_test SOURCES model_test.cc DEPENDS plumbline_model)
#   plumbline_ctest(clause_index_test COMMAND Python3::Interpreter -B clause_index_test.py)
#   plumbline_backend(template SOURCES template.cc DEPENDS plumbline_abi)
#   plumbline_program(plumbline-check SOURCES check_main.cc DEPENDS plumbline_harness)
#
# Includes are written from the root of the tree: #include "spec/model/model.h".

add_library(plumbline_options INTERFACE)
target_include_directories(plumbline_options INTERFACE $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}>
                                                       $<BUILD_INTERFACE:${PROJECT_BINARY_DIR}/generated>
                                                       $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/plumbline>)
target_compile_features(plumbline_options INTERFACE cxx_std_20)
target_compile_options(plumbline_options INTERFACE $<BUILD_INTERFACE:-Wall> $<BUILD_INTERFACE:-Wextra>)
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  # False when an std::optional member is moved (GCC bug 80635).
  target_compile_options(plumbline_options INTERFACE $<BUILD_INTERFACE:-Wno-maybe-uninitialized>)
endif()
if(PLUMBLINE_WERROR)
  target_compile_options(plumbline_options INTERFACE $<BUILD_INTERFACE:-Werror>)
endif()
if(PLUMBLINE_SANITIZE)
  target_compile_options(plumbline_options INTERFACE -fsanitize=${PLUMBLINE_SANITIZE} -fno-omit-frame-pointer
                                                     -fno-sanitize-recover=all)
  target_link_options(plumbline_options INTERFACE -fsanitize=${PLUMBLINE_SANITIZE})
endif()
if(PLUMBLINE_COVERAGE)
  target_compile_options(plumbline_options INTERFACE --coverage -fprofile-update=atomic)
  target_link_options(plumbline_options INTERFACE --coverage)
endif()

find_package(GTest REQUIRED)

function(plumbline_library name)
  cmake_parse_arguments(ARG "SHARED" "" "SOURCES;DEPENDS" ${ARGN})
  if(ARG_SHARED)
    add_library(${name} SHARED ${ARG_SOURCES})
    set(scope PUBLIC)
  elseif(ARG_SOURCES)
    add_library(${name} STATIC ${ARG_SOURCES})
    set(scope PUBLIC)
  else()
    add_library(${name} INTERFACE)
    set(scope INTERFACE)
  endif()
  target_link_libraries(${name} ${scope} plumbline_options ${ARG_DEPENDS})
  string(REPLACE "plumbline_" "" short ${name})
  add_library(Plumbline::${short} ALIAS ${name})
endfunction()

# Every test runs from the root of the tree, knows the build folder, and has a limit, so that one that is stuck is named.
# TIMES: how many limits it may take. Those with the label `full` take long or need more packages: `./dev full` runs
# them, `./dev test` does not.
function(plumbline_ctest name)
  cmake_parse_arguments(ARG "" "TIMES" "COMMAND;LABELS" ${ARGN})
  if(NOT ARG_TIMES)
    set(ARG_TIMES 1)
  endif()
  math(EXPR timeout "${PLUMBLINE_TEST_TIMEOUT} * ${ARG_TIMES}")
  add_test(NAME ${name} COMMAND ${ARG_COMMAND} WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
  set_tests_properties(${name} PROPERTIES ENVIRONMENT "PLUMBLINE_BUILD=${PROJECT_BINARY_DIR}" TIMEOUT ${timeout}
                                          LABELS "${ARG_LABELS}")
endfunction()

function(plumbline_test name)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPENDS;LABELS" ${ARGN})
  if(NOT BUILD_TESTING)
    return()
  endif()
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE plumbline_options ${ARG_DEPENDS} GTest::gmock GTest::gtest_main)
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
  plumbline_ctest(${name} COMMAND ${name} LABELS ${ARG_LABELS})
endfunction()

# A shared object that exports plumbline_get_adapter; found by the tool as --backend <name>.
function(plumbline_backend name)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPENDS" ${ARGN})
  add_library(plumbline_backend_${name} MODULE ${ARG_SOURCES})
  target_link_libraries(plumbline_backend_${name} PRIVATE plumbline_options ${ARG_DEPENDS})
  set_target_properties(plumbline_backend_${name} PROPERTIES
    PREFIX "" OUTPUT_NAME ${name}
    LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib/plumbline/backends
    INSTALL_RPATH "$ORIGIN/../..")
  set_property(GLOBAL APPEND PROPERTY plumbline_backends plumbline_backend_${name})
  install(TARGETS plumbline_backend_${name} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/plumbline/backends)
endfunction()

function(plumbline_program name)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPENDS" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE plumbline_options ${ARG_DEPENDS})
  set_property(GLOBAL APPEND PROPERTY plumbline_programs ${name})
  install(TARGETS ${name} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endfunction()

# A backend once more, its loads and stores points of the race suite's scheduler: compiled by clang, without a change to
# its source, into the folder traced/ beside the first. Without clang there is none. In a build by clang with thread
# sanitizer it is sanitized too: the sanitizer then judges each schedule, which it sees as what the threads did by
# themselves.
#   plumbline_traced_backend(reference SOURCES a.cc ... DEFINITIONS X=1 DEPENDS plumbline_generate_releases)
find_program(PLUMBLINE_CLANG NAMES clang++-19 clang++-16
             DOC "Compiles what is to be traced for the race suite")
function(plumbline_traced_backend name)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEFINITIONS;DEPENDS" ${ARGN})
  if(NOT PLUMBLINE_CLANG OR PLUMBLINE_COVERAGE)
    return()
  endif()
  set(sanitize)
  if(PLUMBLINE_SANITIZE STREQUAL thread AND CMAKE_CXX_COMPILER_ID MATCHES Clang)
    set(sanitize -fsanitize=thread)
  elseif(PLUMBLINE_SANITIZE)
    return()
  endif()
  list(TRANSFORM ARG_DEFINITIONS PREPEND -D)
  set(flags -std=c++20 -O1 -g1 -DNDEBUG -fPIC -fvisibility=hidden -I${PROJECT_SOURCE_DIR}
            -I${PROJECT_BINARY_DIR}/generated ${ARG_DEFINITIONS}
            -fsanitize-coverage=func,trace-pc-guard,trace-loads,trace-stores ${sanitize})
  set(folder ${PROJECT_BINARY_DIR}/lib/plumbline/backends/traced)
  set(objects)
  foreach(source ${ARG_SOURCES})
    string(MAKE_C_IDENTIFIER ${source} object)
    set(object ${CMAKE_CURRENT_BINARY_DIR}/traced_${name}/${object}.o)
    add_custom_command(
      OUTPUT ${object} DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${source} DEPFILE ${object}.d
      COMMAND ${CMAKE_CXX_COMPILER_LAUNCHER} ${PLUMBLINE_CLANG} ${flags} -MD -MF ${object}.d -MT ${object}
              -c ${CMAKE_CURRENT_SOURCE_DIR}/${source} -o ${object}
      COMMENT "Tracing ${source} of ${name}" VERBATIM)
    list(APPEND objects ${object})
  endforeach()
  file(MAKE_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/traced_${name} ${folder})
  add_custom_command(
    OUTPUT ${folder}/${name}.so DEPENDS ${objects}
    COMMAND ${PLUMBLINE_CLANG} ${sanitize} -shared -o ${folder}/${name}.so ${objects} -pthread
    COMMENT "Linking traced/${name}.so" VERBATIM)
  add_custom_target(plumbline_traced_${name} DEPENDS ${folder}/${name}.so)
  if(ARG_DEPENDS)
    add_dependencies(plumbline_traced_${name} ${ARG_DEPENDS})
  endif()
  set_property(GLOBAL APPEND PROPERTY plumbline_traced plumbline_traced_${name})
  install(FILES ${folder}/${name}.so DESTINATION ${CMAKE_INSTALL_LIBDIR}/plumbline/backends/traced OPTIONAL)
endfunction()
