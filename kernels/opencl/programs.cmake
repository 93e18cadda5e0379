# Writes the OpenCL C programs into a header, each whole: the layout, the values if it computes with them, and its kernels.
#   cmake -DFROM=programs -DTO=programs.h -P programs.cmake
function(read name into)
  file(READ ${FROM}/${name} text)
  set(${into} "${text}" PARENT_SCOPE)
endfunction()

read(layout.h layout)
read(values.cl values)
set(table "")
foreach(name elementwise mm move sum)
  read(${name}.cl kernels)
  set(own "${values}")
  if(name STREQUAL move)
    set(own "")
  endif()
  string(APPEND table "    {\"${name}\", R\"CL(${layout}${own}${kernels})CL\"},\n")
endforeach()
file(WRITE ${TO} "// Made from kernels/opencl/programs by programs.cmake.
#pragma once

#include <string_view>

namespace plumbline::kernels::opencl {

struct ProgramText {
  std::string_view name, source;
};

inline constexpr ProgramText kPrograms[] = {
${table}};

}  // namespace plumbline::kernels::opencl
")
