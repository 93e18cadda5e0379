// Errors across the line: C++ exceptions on one side, pl_error objects on the other.
//
//   throw Error(PL_ERROR_NOT_FOUND, "no operator demo::f");        // what an author throws
//   return MakeError(PL_ERROR_KERNEL_RAISED, "k1 failed", "", 7);  // what a host kernel returns
//
// `HostError` carries a pl_error that the host made (a kernel's, a sink's) through the backend as an exception, so
// that it comes out with the class, message, origin and payload it went in with.
//
// Ownership: a pl_error belongs to whoever received it; `Own` takes it over. Threads: any.
#ifndef PLUMBLINE_SPEC_ABI_ERROR_H_
#define PLUMBLINE_SPEC_ABI_ERROR_H_

#include <cstdint>
#include <exception>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include "spec/abi/abi.h"

namespace plumbline::abi {

inline std::string_view View(pl_string text) {
  return text.size == 0 ? std::string_view() : std::string_view(text.data, static_cast<std::size_t>(text.size));
}
inline pl_string Borrow(std::string_view text) { return pl_string{text.data(), text.size()}; }

// The spelling of a class, "not-found"; "unknown class" for a number that this header does not know.
inline std::string_view ErrorClassSpelling(std::uint32_t error_class) {
  switch (error_class) {
#define PLUMBLINE_ABI_CASE(number, NAME, spelling, meaning) \
  case number:                                              \
    return spelling;
    PL_ERROR_CLASSES(PLUMBLINE_ABI_CASE)
#undef PLUMBLINE_ABI_CASE
    default:
      return "unknown class";
  }
}

class Error : public std::runtime_error {
 public:
  Error(std::uint32_t error_class, const std::string& message, std::string origin = "")
      : std::runtime_error(message), error_class_(error_class), origin_(std::move(origin)) {}

  std::uint32_t error_class() const { return error_class_; }
  const std::string& origin() const { return origin_; }

 private:
  std::uint32_t error_class_;
  std::string origin_;
};

// Makes an error object. Never fails: without memory it is a shared one of class INTERNAL.
inline pl_error* MakeError(std::uint32_t error_class, std::string_view message, std::string_view origin = {},
                           std::uint64_t payload = 0) noexcept {
  struct Owned : pl_error {
    std::string text, place;
  };
  try {
    auto owned = std::make_unique<Owned>();
    owned->text = message;
    owned->place = origin;
    static_cast<pl_error&>(*owned) =
        pl_error{sizeof(pl_error),     error_class, Borrow(owned->text),
                 Borrow(owned->place), payload,     [](pl_error* self) { delete static_cast<Owned*>(self); }};
    return owned.release();
  } catch (const std::bad_alloc&) {
    static constexpr char kText[] = "out of memory while an error was reported";
    static pl_error none{sizeof(pl_error), PL_ERROR_INTERNAL, {kText, sizeof kText - 1}, {nullptr, 0}, 0,
                         [](pl_error*) {}};
    return &none;
  }
}

// A received error object; releases it once.
class PlError {
 public:
  PlError() = default;
  explicit PlError(pl_error* error) : error_(error) {}

  explicit operator bool() const { return error_ != nullptr; }
  std::uint32_t error_class() const { return error_->error_class; }
  std::string_view message() const { return View(error_->message); }
  std::string_view origin() const { return View(error_->origin); }
  std::uint64_t payload() const { return error_->payload; }
  pl_error* release() { return error_.release(); }  // gives it up to another receiver

 private:
  struct Release {
    void operator()(pl_error* error) const {
      if (error->release != nullptr) error->release(error);
    }
  };
  std::unique_ptr<pl_error, Release> error_;
};

// An error object of the host on its way through the backend.
class HostError : public std::exception {
 public:
  explicit HostError(pl_error* error) {
    PlError owned(error);
    error_class_ = owned.error_class();
    message_ = owned.message();
    origin_ = owned.origin();
    payload_ = owned.payload();
  }

  const char* what() const noexcept override { return message_.c_str(); }
  std::uint32_t error_class() const { return error_class_; }
  const std::string& origin() const { return origin_; }
  std::uint64_t payload() const { return payload_; }

 private:
  std::uint32_t error_class_;
  std::string message_, origin_;
  std::uint64_t payload_;
};

// Throws what the host returned, if it returned an error.
inline void ThrowIfError(pl_error* error) {
  if (error != nullptr) throw HostError(error);
}

// Runs `body`; turns whatever leaves it into an error object. `Backend::Classify(const std::exception&)`, if there is
// one, gives the Error for an exception of the backend's own.
template <class Backend, class Body>
pl_error* Catch(Body&& body) noexcept {
  try {
    try {
      body();
      return nullptr;
    } catch (const HostError& error) {
      return MakeError(error.error_class(), error.what(), error.origin(), error.payload());
    } catch (const Error& error) {
      return MakeError(error.error_class(), error.what(), error.origin());
    } catch (const std::exception& error) {
      if constexpr (requires { Error(Backend::Classify(error)); }) {
        const Error classified(Backend::Classify(error));
        return MakeError(classified.error_class(), classified.what(), classified.origin());
      } else {
        return MakeError(PL_ERROR_UNCLASSIFIED, error.what());
      }
    }
  } catch (...) {
    return MakeError(PL_ERROR_UNCLASSIFIED, "the backend threw something that is not a std::exception");
  }
}

}  // namespace plumbline::abi

#endif  // PLUMBLINE_SPEC_ABI_ERROR_H_
