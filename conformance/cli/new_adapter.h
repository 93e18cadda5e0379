// Writes the start of a backend of one's own.
//
//   OrError<NewAdapter> made = WriteNewAdapter({.folder = "mine", .name = "", .templates = NewAdapterFolder()});
//   made->name == "mine"; made->files == {"mine/CMakeLists.txt", ...}
//
// All or nothing: an existing file, or a folder that cannot be written, refuses before anything is written. Touches the
// file system; any thread.
#ifndef PLUMBLINE_CONFORMANCE_CLI_NEW_ADAPTER_H_
#define PLUMBLINE_CONFORMANCE_CLI_NEW_ADAPTER_H_

#include <string>
#include <string_view>
#include <vector>

#include "conformance/harness/or_error.h"

namespace plumbline::cli {

struct NewAdapterOptions {
  std::string folder;     // made if need be
  std::string name;       // empty: that of the folder, as an identifier
  std::string templates;  // *.in, with @NAME@ and @CLASS@
};

struct NewAdapter {
  std::string name;
  std::vector<std::string> files;
};

harness::OrError<NewAdapter> WriteNewAdapter(const NewAdapterOptions& options);

std::string ClassNameOf(std::string_view name);  // "my_backend" as "MyBackend"

}  // namespace plumbline::cli

#endif  // PLUMBLINE_CONFORMANCE_CLI_NEW_ADAPTER_H_
