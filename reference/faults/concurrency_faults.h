// Faults against the chapter on concurrency: X(name, "CLAUSE", "what goes wrong"). See faults.h. They show when threads
// register, release and call at the same time, and mostly only then.
#ifndef PLUMBLINE_REFERENCE_FAULTS_CONCURRENCY_FAULTS_H_
#define PLUMBLINE_REFERENCE_FAULTS_CONCURRENCY_FAULTS_H_

// clang-format off
#define PLUMBLINE_CONCURRENCY_FAULTS(X)                                                                               \
  X(busy_register_is_not_published, "CONC-001", "a register that had to wait for the lock leaves used slots as they " \
    "are")                                                                                                            \
  X(busy_release_is_not_published, "CONC-002", "a release that had to wait for the lock leaves used slots as they "   \
    "are")                                                                                                            \
  X(concurrent_release_is_lost, "CONC-002", "a register writes back kernels that a release took out meanwhile")       \
  X(lock_ends_before_the_table, "CONC-003", "the lock is given up before the old table is withdrawn")                 \
  X(calls_resolve_without_the_lock, "CONC-003", "a call goes through the kernels of its operator without the lock")   \
  X(override_is_two_steps, "CONC-004", "a kernel that takes over first takes out the one before, then is entered")    \
  X(released_kernel_is_freed_at_once, "CONC-005", "a release destroys the kernel though calls run it: freed memory")  \
  X(kernel_is_counted_late, "CONC-005", "a call counts its kernel after its read section: freed memory")              \
  X(no_grace_period, "CONC-005", "an old table is freed while calls read it: freed memory")                           \
  X(last_use_is_counted_twice, "CONC-006", "two uses that end together both take themselves for the last: a crash, "  \
    "freed memory")                                                                                                   \
  X(count_is_no_single_step, "CONC-006", "the uses of a kernel are read, then written: one of two ends is lost")      \
  X(mask_and_slot_of_two_tables, "CONC-007", "a call takes what falls through from one table and its kernel from "    \
    "the next")                                                                                                       \
  X(overtaken_answer_is_entered, "CONC-008", "a call enters its answer after giving up the lock under which it was "  \
    "right: freed memory")                                                                                            \
  X(concurrent_register_is_lost, "CONC-009", "a register writes back kernels that it read before another one")        \
  X(fallback_comes_after_its_news, "CONC-010", "operators are told of a fallback before it is there")                 \
  X(handle_is_counted_late, "CONC-011", "a handle is counted after it was found: freed memory")                       \
  X(release_waits_for_its_calls, "CONC-012", "a release waits until no call runs the kernel: kernels that release "   \
    "each other wait for ever")                                                                                       \
  X(listeners_hear_under_the_lock, "CONC-013", "listeners are called with the lock held: one that asks waits for "    \
    "ever")                                                                                                           \
  X(destructors_run_under_the_lock, "CONC-014", "kernels are destroyed with the lock held: a destructor that asks "   \
    "waits for ever")                                                                                                 \
  X(list_is_read_without_the_lock, "CONC-015", "the list of operators is read while others change it: a crash, "      \
    "freed memory")                                                                                                   \
  X(library_goes_piece_by_piece, "CONC-016", "a library gives up the lock between two of its registrations")          \
  X(guards_share_one_set, "CONC-017", "what one thread excludes is excluded for all")                                 \
  X(failed_call_stays_in_its_section, "CONC-018", "a call that ends in an error does not end its read section: "      \
    "writers wait for ever")                                                                                          \
  X(drain_does_not_wait, "CONC-019", "drain returns while released kernels run")                                      \
  X(table_is_told_in_parts, "CONC-020", "the lock is given up between two rows of a table")                           \
  X(refused_kernel_shows_for_a_moment, "CONC-021", "a kernel is entered before it is checked, and taken back") \
  X(child_keeps_the_locks, "CONC-022", "the locks that a fork takes are not given back in the child, which waits for "  \
    "ever")                                                                                                           \
  X(fork_takes_no_locks, "CONC-023", "a fork while another thread registers leaves the child a held lock: it waits "  \
    "for ever")                                                                                                       \
  X(release_at_exit_crashes, "CONC-024", "registries are gone once the process ends: a release is then a crash")      \
  X(exit_waits_for_kernels, "CONC-025", "the end of the process waits for the kernel that ends it: for ever")         \
  X(contexts_go_with_the_next_change, "CONC-026", "the context of a released kernel is destroyed by the next "        \
    "change: a crash where its library is unloaded by then")                                                          \
  X(drain_waits_for_one_call, "CONC-027", "drain waits until one of the calls that run released kernels ends")        \
  X(kernel_is_seen_before_its_state, "CONC-028", "a kernel can be called before what belongs to it is there")         \
  X(guards_outlive_their_thread, "CONC-029", "a thread starts with the guards that one which ended had left open")    \
  X(ending_thread_cannot_call, "CONC-030", "a thread's last destructors find the thread's state gone")                \
  X(lock_is_held_around_the_loader, "CONC-031", "a register takes the loader's lock with its own held: one from a "    \
    "library that is being loaded waits for ever")
// clang-format on

#endif  // PLUMBLINE_REFERENCE_FAULTS_CONCURRENCY_FAULTS_H_
