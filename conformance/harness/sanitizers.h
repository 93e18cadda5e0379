// Which sanitizers this file is compiled with, by what GCC and Clang each tell of it.
//
//   PLUMBLINE_THREAD_SANITIZER     thread sanitizer
//   PLUMBLINE_ADDRESS_SANITIZER    address sanitizer
//   PLUMBLINE_OWN_ALLOCATOR        address, thread or memory sanitizer: they bring operators new and delete
#ifndef PLUMBLINE_CONFORMANCE_HARNESS_SANITIZERS_H_
#define PLUMBLINE_CONFORMANCE_HARNESS_SANITIZERS_H_

#if defined(__SANITIZE_THREAD__)
#define PLUMBLINE_THREAD_SANITIZER
#endif
#if defined(__SANITIZE_ADDRESS__)
#define PLUMBLINE_ADDRESS_SANITIZER
#endif

#if defined(__has_feature)
#if __has_feature(thread_sanitizer) && !defined(PLUMBLINE_THREAD_SANITIZER)
#define PLUMBLINE_THREAD_SANITIZER
#endif
#if __has_feature(address_sanitizer) && !defined(PLUMBLINE_ADDRESS_SANITIZER)
#define PLUMBLINE_ADDRESS_SANITIZER
#endif
#if __has_feature(memory_sanitizer)
#define PLUMBLINE_OWN_ALLOCATOR
#endif
#endif

#if (defined(PLUMBLINE_ADDRESS_SANITIZER) || defined(PLUMBLINE_THREAD_SANITIZER)) && !defined(PLUMBLINE_OWN_ALLOCATOR)
#define PLUMBLINE_OWN_ALLOCATOR
#endif

#endif  // PLUMBLINE_CONFORMANCE_HARNESS_SANITIZERS_H_
