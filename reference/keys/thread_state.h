// What a thread brings to a call: its include and exclude sets, and the mark that it is reading a published table.
//
// The call path (dispatch/operator.h) reads it without a call: the variable is constant-initialised, a plain struct,
// and of the initial-exec model, so that also a shared library reaches it with one segment-relative access.
//
//   {
//     ExcludeGuard below_autograd(table, {autograd_other, autograd_cpu});
//     op.call(a, b);
//   }                     // restored exactly, whatever happened in between
//
// Sets are words of one key table. `table_number` names it; every operator of a registry carries the number of its
// registry's table, and a call whose numbers differ takes the slow path, which stores the thread's words for the one
// table and loads those for the other (EnterTable). The same test thus also catches the first call of a thread
// (number 0 is no table's) and, as an operator's number is 0 while calls to it need care, everything else that a call
// must not miss: a released operator, tracing, counting, a kernel of another signature.
//
// Guards belong to the thread that made them and to a key table, not to a registry. Each remembers the bits that it
// added (functionality and component bits alike) and takes away just those.
#ifndef PLUMBLINE_REFERENCE_KEYS_THREAD_STATE_H_
#define PLUMBLINE_REFERENCE_KEYS_THREAD_STATE_H_

#include <atomic>
#include <cstdint>
#include <initializer_list>
#include <span>

#include "reference/keys/key_table.h"
#include "reference/keys/reading_mark.h"

namespace plumbline::reference {

struct ThreadState {
  ReadingMark reading{0};                 // 1: inside a read section, see registry/reclaim.h
  std::uint32_t table_number = kNoTable;  // the key table that the next two are of
  std::uint64_t include = 0;
  std::uint64_t keep = 0;             // all ones but for the excluded functionalities
  std::uint32_t kernels_running = 0;  // releasable kernels entered by this thread
  std::uint32_t depth = 0;            // of calls, while they are observed
  static constexpr std::uint32_t kNoTable = UINT32_MAX;
};

extern constinit thread_local ThreadState thread_state __attribute__((tls_model("initial-exec")));

#ifdef PLUMBLINE_WITH_FAULTS
extern constinit std::atomic<std::uint64_t> shared_keep;  // what all threads keep, for the fault guards_share_one_set
#endif

// Makes the thread known to writers and its words those of `table`.
void EnterTable(const KeyTable& table);

// The thread's sets for a table; what a new thread starts with is the release's.
KeySet ThreadInclude(const KeyTable& table);
KeySet ThreadExclude(const KeyTable& table);

class KeyGuard {
 public:
  KeyGuard(const KeyGuard&) = delete;
  KeyGuard& operator=(const KeyGuard&) = delete;

 protected:
  KeyGuard(const KeyTable& table, KeySet keys, bool include);
  ~KeyGuard();

 private:
  const KeyTable& table_;
  std::uint64_t added_ = 0;
#ifdef PLUMBLINE_WITH_FAULTS
  std::uint64_t include_before_ = 0, keep_before_ = 0;
#endif
  bool include_;
};

class IncludeGuard : public KeyGuard {
 public:
  IncludeGuard(const KeyTable& table, KeySet keys) : KeyGuard(table, keys, true) {}
};

class ExcludeGuard : public KeyGuard {
 public:
  ExcludeGuard(const KeyTable& table, KeySet keys) : KeyGuard(table, keys, false) {}
};

// Calls `visit` with the state of every thread that ever entered a table and still lives, while none of them can come
// or go.
void VisitThreads(void (*visit)(ThreadState& state));

}  // namespace plumbline::reference

#endif  // PLUMBLINE_REFERENCE_KEYS_THREAD_STATE_H_
