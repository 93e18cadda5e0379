#include "reference/keys/error.h"

#include "spec/tables/error_classes.h"

namespace plumbline::reference {
namespace {

#define PLUMBLINE_ERROR_NUMBER(number, NAME, spelling, meaning) constexpr int kNumber_##NAME = number;
PL_ERROR_CLASSES(PLUMBLINE_ERROR_NUMBER)
#undef PLUMBLINE_ERROR_NUMBER

static_assert(static_cast<int>(ErrorClass::kNotFound) == kNumber_NOT_FOUND);
static_assert(static_cast<int>(ErrorClass::kDuplicate) == kNumber_DUPLICATE);
static_assert(static_cast<int>(ErrorClass::kAmbiguous) == kNumber_AMBIGUOUS);
static_assert(static_cast<int>(ErrorClass::kNoKernel) == kNumber_NO_KERNEL);
static_assert(static_cast<int>(ErrorClass::kNoKey) == kNumber_NO_KEY);
static_assert(static_cast<int>(ErrorClass::kFellThrough) == kNumber_FELL_THROUGH);
static_assert(static_cast<int>(ErrorClass::kSchemaMismatch) == kNumber_SCHEMA_MISMATCH);
static_assert(static_cast<int>(ErrorClass::kInvalidArgument) == kNumber_INVALID_ARGUMENT);
static_assert(static_cast<int>(ErrorClass::kOverflow) == kNumber_OVERFLOW);
static_assert(static_cast<int>(ErrorClass::kVersionChanged) == kNumber_VERSION_CHANGED);
static_assert(static_cast<int>(ErrorClass::kGraphFreed) == kNumber_GRAPH_FREED);
static_assert(static_cast<int>(ErrorClass::kUnsupported) == kNumber_UNSUPPORTED);
static_assert(static_cast<int>(ErrorClass::kInvalidHandle) == kNumber_INVALID_HANDLE);
static_assert(static_cast<int>(ErrorClass::kInternal) == kNumber_INTERNAL);
static_assert(static_cast<int>(ErrorClass::kNoDtype) == kNumber_NO_DTYPE);

}  // namespace

std::string_view Spelling(ErrorClass error_class) {
  switch (static_cast<int>(error_class)) {
#define PLUMBLINE_ERROR_SPELLING(number, NAME, spelling, meaning) \
  case number:                                                    \
    return spelling;
    PL_ERROR_CLASSES(PLUMBLINE_ERROR_SPELLING)
#undef PLUMBLINE_ERROR_SPELLING
    default:
      return "unclassified";
  }
}

DispatchError::DispatchError(ErrorClass error_class, const std::string& message)
    : std::runtime_error(message), class_(error_class) {}

DispatchError::~DispatchError() = default;

void Throw(ErrorClass error_class, const std::string& message) { throw DispatchError(error_class, message); }

}  // namespace plumbline::reference
