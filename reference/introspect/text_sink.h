// Where trace and log lines go: stderr, or a file that is appended to. One write a line, so that lines of several
// threads and processes do not mix. What cannot be written is lost, and the first time said on stderr. Any thread.
#ifndef PLUMBLINE_REFERENCE_INTROSPECT_TEXT_SINK_H_
#define PLUMBLINE_REFERENCE_INTROSPECT_TEXT_SINK_H_

#include <atomic>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace plumbline::reference {

class TextSink {
 public:
  // Why nothing can be written to "stderr" or this path, in words; empty: it can.
  static std::string WhatIsWrongWith(std::string_view target);

  // "stderr", or a path. Null, with a word on stderr, if the file cannot be opened.
  static std::unique_ptr<TextSink> Open(std::string_view target, std::string_view variable);
  ~TextSink();
  TextSink(const TextSink&) = delete;
  TextSink& operator=(const TextSink&) = delete;

  void Write(std::string line);  // without its line end

 private:
  TextSink(int descriptor, std::string name) : descriptor_(descriptor), name_(std::move(name)) {}
  int descriptor_;
  std::string name_;  // of its own file, as it is complained about; empty: stderr
  std::atomic<bool> complained_{false};
};

}  // namespace plumbline::reference

#endif  // PLUMBLINE_REFERENCE_INTROSPECT_TEXT_SINK_H_
