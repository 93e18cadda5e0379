# Fills in the three files for a name, builds the project with the Plumbline of this build folder, and looks whether the
# shared object is there. Then what a project says that does not find Plumbline.
cmake_minimum_required(VERSION 3.25)
set(NAME my_backend)
set(CLASS MyBackend)
file(REMOVE_RECURSE ${BINARY})
foreach(file adapter.cc CMakeLists.txt README.md)
  configure_file(${SOURCE}/${file}.in ${BINARY}/${file} @ONLY)
  file(READ ${BINARY}/${file} text)
  file(READ ${SOURCE}/${file}.in template)
  string(REPLACE "@NAME@" "" template "${template}")
  string(REPLACE "@CLASS@" "" template "${template}")
  if(template MATCHES "@[A-Z_]+@")
    message(FATAL_ERROR "${file} has a placeholder that new-adapter does not know: ${CMAKE_MATCH_0}")
  endif()
endforeach()
set(configure ${CMAKE_COMMAND} -S ${BINARY} -DCMAKE_CXX_COMPILER=${COMPILER} -DCMAKE_CXX_FLAGS=-Wall\ -Wextra\ -Werror)
execute_process(COMMAND ${configure} -B ${BINARY}/build -DPlumbline_DIR=${PLUMBLINE}
                COMMAND_ERROR_IS_FATAL ANY OUTPUT_QUIET)
execute_process(COMMAND ${CMAKE_COMMAND} --build ${BINARY}/build COMMAND_ERROR_IS_FATAL ANY OUTPUT_QUIET)
if(NOT EXISTS ${BINARY}/build/my_backend.so)
  message(FATAL_ERROR "my_backend.so was not built")
endif()

execute_process(COMMAND ${configure} -B ${BINARY}/lost -DCMAKE_DISABLE_FIND_PACKAGE_Plumbline=ON
                OUTPUT_QUIET ERROR_VARIABLE said RESULT_VARIABLE status)
if(status EQUAL 0 OR NOT said MATCHES "-DPlumbline_DIR=BUILD/lib/cmake/Plumbline")
  message(FATAL_ERROR "a project that does not find Plumbline left with ${status} and said: ${said}")
endif()
