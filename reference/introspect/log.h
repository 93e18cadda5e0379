// The registration log: one line for each registration and release.
//
//   PLUMBLINE_REGISTRATION_LOG=stderr ./my_program       # or a path; every registry made afterwards is logged
//
//   define demo::add at demo.cc:10 on thread 1
//   impl demo::add key=CPU at demo.cc:14 on thread 1 shadows demo.cc:11
//   release impl demo::add key=CPU at demo.cc:14 on thread 1 uncovers demo.cc:11
//
// Threads are numbered in the order in which they first appear in the log. Any thread.
#ifndef PLUMBLINE_REFERENCE_INTROSPECT_LOG_H_
#define PLUMBLINE_REFERENCE_INTROSPECT_LOG_H_

#include <memory>
#include <string>

#include "reference/introspect/text_sink.h"
#include "reference/registry/hooks.h"

namespace plumbline::reference {

inline constexpr char kRegistrationLogVariable[] = "PLUMBLINE_REGISTRATION_LOG";

std::string Print(const RegistrationEvent& event);  // the line, without the thread

class RegistrationLog final : public RegistrationObserver {
 public:
  explicit RegistrationLog(std::unique_ptr<TextSink> sink) : sink_(std::move(sink)) {}
  void OnRegistration(const RegistrationEvent& event) override;

 private:
  std::unique_ptr<TextSink> sink_;
};

}  // namespace plumbline::reference

#endif  // PLUMBLINE_REFERENCE_INTROSPECT_LOG_H_
