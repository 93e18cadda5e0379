// The exceptions of the reference: one type, with a class from the closed list of spec/tables/error_classes.h.
//
//   try { op.CallBoxed(stack); }
//   catch (const DispatchError& e) { if (e.error_class() == ErrorClass::kNoKernel) ... }
//
// A kernel's own exception is never wrapped: it leaves the call as it was thrown. Any thread.
#ifndef PLUMBLINE_REFERENCE_KEYS_ERROR_H_
#define PLUMBLINE_REFERENCE_KEYS_ERROR_H_

#include <stdexcept>
#include <string>
#include <string_view>

namespace plumbline::reference {

// Numbers as in spec/tables/error_classes.h, only those the reference raises.
enum class ErrorClass {
  kNotFound = 1,
  kDuplicate = 2,
  kAmbiguous = 3,
  kNoKernel = 4,
  kNoKey = 5,
  kFellThrough = 6,
  kSchemaMismatch = 7,
  kInvalidArgument = 8,
  kOverflow = 9,
  kVersionChanged = 10,
  kGraphFreed = 11,
  kUnsupported = 13,
  kInvalidHandle = 14,
  kInternal = 15,
  kNoDtype = 17,
};

std::string_view Spelling(ErrorClass error_class);  // "no-kernel"

class DispatchError : public std::runtime_error {
 public:
  DispatchError(ErrorClass error_class, const std::string& message);
  ~DispatchError() override;
  ErrorClass error_class() const { return class_; }

 private:
  ErrorClass class_;
};

[[noreturn]] void Throw(ErrorClass error_class, const std::string& message);

}  // namespace plumbline::reference

#endif  // PLUMBLINE_REFERENCE_KEYS_ERROR_H_
