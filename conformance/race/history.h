// What threads did to a registry at the same time, and what they saw: the witness of a race.
//
//   OrError<History> history = ParseHistory(text);
//   Verdict verdict = Check(*history);          // check.h
//   std::string text = PrintHistory(*history);
//
// The text form (`.hist`) is made to be written by hand:
//
//   history 1 pytorch-1.13
//   title    a call that began after the release had returned
//   clauses  CACHE-002
//   main  1..2  define t::f as d                => ok
//   main  3..4  impl t::f CPU as r              => ok
//   a     5..7  release r                       => ok
//   b     6..8  call t::f [CPU AutogradCPU]     => r
//   b     9..   call t::f [CPU]
//
// A line is an event: its thread, when it was asked for and when its answer was there (both in one logical clock; no
// end: it never answered), what was asked, and the answer. Lines that start with `#` and blank lines are skipped.
//
// Where a call tells which kernel ran, its end is when that kernel began: the choice was made by then. What the kernel
// does itself is events of its own.
//
// Plain data, no thread rules.
#ifndef PLUMBLINE_CONFORMANCE_RACE_HISTORY_H_
#define PLUMBLINE_CONFORMANCE_RACE_HISTORY_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "conformance/harness/or_error.h"
#include "spec/model/key_table.h"

namespace plumbline::race {

inline constexpr std::uint64_t kNever = UINT64_MAX;

struct Event {
  enum class Kind {
    kDefine,      // OP as NAME [in LIBRARY]
    kImpl,        // OP KEY [fallthrough] as NAME [in LIBRARY]
    kFallback,    // KEY [fallthrough] as NAME [in LIBRARY]
    kRelease,     // NAME
    kClose,       // LIBRARY: releases what was made in it
    kFind,        // OP as NAME: keeps a handle
    kCall,        // OP|@HANDLE KEYS [include KEYS] [exclude KEYS]
    kRedispatch,  // OP KEYS
    kHasKernel,   // OP KEY
    kTable,       // OP
    kOperators    // all that are defined
  };
  Kind kind = Kind::kCall;
  std::string thread;
  std::uint64_t start = 0, end = kNever;

  std::string op;                             // or the handle, with `by_handle`
  bool by_handle = false;                     // kCall
  std::string key;                            // kImpl, kFallback, kHasKernel
  bool fallthrough = false;                   // kImpl, kFallback
  std::vector<std::string> keys;              // kCall: those of the arguments; kRedispatch: the set
  std::vector<std::string> include, exclude;  // kCall: the thread's guards
  std::string name;                           // what it makes; kRelease: what it ends; kClose: the library
  std::string library;

  // The answer, if `end` is not kNever.
  std::string error;                // class, or empty
  std::string ran;                  // kCall, kRedispatch: the registration whose kernel ran, or "builtin"
  bool yes = false;                 // kHasKernel
  std::vector<std::string> listed;  // kOperators
  std::vector<std::pair<std::string, std::string>> table;  // kTable: key, registration; slots without left out

  bool Changes() const { return kind <= Kind::kClose; }
  friend bool operator==(const Event&, const Event&) = default;
};

struct History {
  std::string release;               // whose keys and rules hold
  std::string title;                 // may be empty
  std::vector<std::string> clauses;  // may be empty
  std::vector<Event> events;         // in any order
  friend bool operator==(const History&, const History&) = default;
};

// Errors name the line, the column and what was expected there: also of a key or a release that does not exist.
harness::OrError<History> ParseHistory(std::string_view text);
// Whether a text starts as one, right or not.
bool IsHistory(std::string_view text);
std::string PrintHistory(const History& history);
std::string PrintEvent(const Event& event);  // one line, without its end

// In words, with what there is instead.
std::string NoSuchRelease(std::string_view name);
std::string NoSuchKey(const model::KeyTable& keys, std::string_view name);

}  // namespace plumbline::race

#endif  // PLUMBLINE_CONFORMANCE_RACE_HISTORY_H_
