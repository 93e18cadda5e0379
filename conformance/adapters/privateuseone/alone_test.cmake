# The folder, copied away from this tree and built by itself as its reader would.
cmake_minimum_required(VERSION 3.25)
file(REMOVE_RECURSE ${BINARY})
file(COPY ${SOURCE}/ DESTINATION ${BINARY})
execute_process(COMMAND ${CMAKE_COMMAND} -S ${BINARY} -B ${BINARY}/build -DCMAKE_CXX_COMPILER=${COMPILER}
                        -DCMAKE_CXX_FLAGS=-Wall\ -Wextra\ -Werror -DCMAKE_CXX_COMPILER_LAUNCHER=${LAUNCHER}
                COMMAND_ERROR_IS_FATAL ANY OUTPUT_QUIET)
execute_process(COMMAND ${CMAKE_COMMAND} --build ${BINARY}/build COMMAND_ERROR_IS_FATAL ANY)
if(NOT EXISTS ${BINARY}/build/libfenced.so)
  message(FATAL_ERROR "libfenced.so was not built")
endif()
