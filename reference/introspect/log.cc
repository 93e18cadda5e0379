#include "reference/introspect/log.h"

#include <atomic>
#include <cstdlib>

namespace plumbline::reference {
namespace {

constexpr std::string_view kWhat[] = {"define", "impl", "fallback", "chain", "listener", "library"};

[[maybe_unused]] const bool logged_from_the_start = [] {
  const char* const target = std::getenv(kRegistrationLogVariable);
  if (target == nullptr || *target == '\0') return false;
  std::unique_ptr<TextSink> sink = TextSink::Open(target, kRegistrationLogVariable);
  if (sink == nullptr) return false;
  default_registration_observer.store(new RegistrationLog(std::move(sink)), std::memory_order_release);
  return true;
}();

int ThreadNumber() {
  static std::atomic<int> last{0};
  thread_local const int number = ++last;
  return number;
}

}  // namespace

std::string Print(const RegistrationEvent& event) {
  std::string line = event.released ? "release " : "";
  line += kWhat[static_cast<int>(event.what)];
  if (event.what == RegistrationEvent::What::kChain) {
    line += " " + std::string(event.key) + " served by " + std::string(event.subject);
  } else {
    if (!event.subject.empty()) line += " " + std::string(event.subject);
    if (!event.key.empty()) line += " key=" + std::string(event.key);
  }
  if (!event.place.empty()) line += " at " + std::string(event.place);
  return line;
}

void RegistrationLog::OnRegistration(const RegistrationEvent& event) {
  std::string line = Print(event) + " on thread " + std::to_string(ThreadNumber());
  if (!event.shadows.empty()) line += (event.released ? " uncovers " : " shadows ") + std::string(event.shadows);
  sink_->Write(std::move(line));
}

}  // namespace plumbline::reference
