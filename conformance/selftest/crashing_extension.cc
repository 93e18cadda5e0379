// A user's library that crashes while it is loaded.

#include <csignal>

namespace {

const int crashed = std::raise(SIGSEGV);

}  // namespace
