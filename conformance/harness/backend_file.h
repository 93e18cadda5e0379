// Finds a backend's shared object and looks at it before the loader does, so that a wrong file gives an answer that a
// reader can act on.
//
//   OrError<std::string> path = FindBackend("reference");        // a name, or a path
//   if (auto wrong = CheckSharedObject(*path)) return Complain(*wrong);
//
// Names are looked up in each folder of PLUMBLINE_BACKEND_PATH (colons between), then beside the running program in
// ../lib/plumbline/backends. Pure but for the file system and the environment; any thread.
#ifndef PLUMBLINE_CONFORMANCE_HARNESS_BACKEND_FILE_H_
#define PLUMBLINE_CONFORMANCE_HARNESS_BACKEND_FILE_H_

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "conformance/harness/or_error.h"

namespace plumbline::harness {

// A word is a name; what holds a slash or ends in .so is a path. The error lists what there is.
OrError<std::string> FindBackend(const std::string& name_or_path);

// Name and path of every backend that a name can reach, sorted by name; the first folder that has a name wins.
std::vector<std::pair<std::string, std::string>> ListBackends();

enum class SharedObject { kBackend, kLoaded /* by --load */ };

// What keeps this file from being loaded here: missing, a folder, no ELF, another machine, no shared object. Nothing
// if it looks right.
std::optional<std::string> CheckSharedObject(const std::string& path, SharedObject kind = SharedObject::kBackend);

// The folder of the running program, without a slash at the end.
std::string ProgramFolder();

}  // namespace plumbline::harness

#endif  // PLUMBLINE_CONFORMANCE_HARNESS_BACKEND_FILE_H_
