#include "reference/registry/plugin.h"

#include <exception>
#include <utility>

namespace plumbline::reference {
namespace {

thread_local std::string failure;

}  // namespace

Plugin::Plugin(const std::function<std::vector<Registration>(Registry& registry)>& register_all) {
  try {
    registrations_ = register_all(Registry::Default());
  } catch (const std::exception& error) {
    failure = error.what();
  } catch (...) {
    failure = "something that is no std::exception was thrown as it registered";
  }
}

std::string TakeLoadFailure() { return std::exchange(failure, std::string()); }

}  // namespace plumbline::reference
