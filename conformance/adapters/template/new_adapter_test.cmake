# Fills in the three files for a name, builds the project, and looks whether the shared object is there.
set(NAME my_backend)
set(CLASS MyBackend)
set(PLUMBLINE_INCLUDE_DIR ${INCLUDE})
file(REMOVE_RECURSE ${BINARY})
foreach(file adapter.cc CMakeLists.txt README.md)
  configure_file(${SOURCE}/${file}.in ${BINARY}/${file} @ONLY)
  file(READ ${BINARY}/${file} text)
  if(text MATCHES "@[A-Z_]+@")
    message(FATAL_ERROR "${file} has a placeholder that new-adapter does not know: ${CMAKE_MATCH_0}")
  endif()
endforeach()
execute_process(COMMAND ${CMAKE_COMMAND} -S ${BINARY} -B ${BINARY}/build -DCMAKE_CXX_COMPILER=${COMPILER}
                        -DCMAKE_CXX_FLAGS=-Wall\ -Wextra\ -Werror
                COMMAND_ERROR_IS_FATAL ANY OUTPUT_QUIET)
execute_process(COMMAND ${CMAKE_COMMAND} --build ${BINARY}/build COMMAND_ERROR_IS_FATAL ANY OUTPUT_QUIET)
if(NOT EXISTS ${BINARY}/build/my_backend.so)
  message(FATAL_ERROR "my_backend.so was not built")
endif()
