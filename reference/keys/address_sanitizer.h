// Whether this is built for the address sanitizer: what is kept for later use would then hide what is used after it was
// freed, so that caches of memory keep nothing.
#ifndef PLUMBLINE_REFERENCE_KEYS_ADDRESS_SANITIZER_H_
#define PLUMBLINE_REFERENCE_KEYS_ADDRESS_SANITIZER_H_

namespace plumbline::reference {

#if defined(__SANITIZE_ADDRESS__)
inline constexpr bool kAddressSanitizer = true;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
inline constexpr bool kAddressSanitizer = true;
#else
inline constexpr bool kAddressSanitizer = false;
#endif
#else
inline constexpr bool kAddressSanitizer = false;
#endif

}  // namespace plumbline::reference

#endif  // PLUMBLINE_REFERENCE_KEYS_ADDRESS_SANITIZER_H_
