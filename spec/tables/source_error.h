// What is wrong with a table's source, told as "file:line:column: what, and what was expected". Stops the build.
#ifndef PLUMBLINE_SPEC_TABLES_SOURCE_ERROR_H_
#define PLUMBLINE_SPEC_TABLES_SOURCE_ERROR_H_

#include <stdexcept>

namespace plumbline::tables {

struct SourceError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

}  // namespace plumbline::tables

#endif  // PLUMBLINE_SPEC_TABLES_SOURCE_ERROR_H_
