// Element types, as spec/tables/dtypes.h lists them.
//
//   SizeOf(DType::kBFloat16) == 2;  Spelling(DType::kBool) == "bool";
//   VisitDType(dtype, [&]<class T>(std::type_identity<T>) { Fill<T>(...); });
//
// Plain values; any thread.
#ifndef PLUMBLINE_REFERENCE_TENSOR_DTYPE_H_
#define PLUMBLINE_REFERENCE_TENSOR_DTYPE_H_

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string_view>
#include <type_traits>

#include "reference/tensor/float16.h"
#include "spec/tables/dtypes.h"

namespace plumbline::reference {

enum class DType : std::uint8_t {
  kUint8 = 0,
  kInt8 = 1,
  kInt16 = 2,
  kInt32 = 3,
  kInt64 = 4,
  kFloat16 = 5,
  kFloat32 = 6,
  kFloat64 = 7,
  kBool = 11,
  kBFloat16 = 15,
};

inline constexpr DType kAllDTypes[] = {DType::kUint8, DType::kInt8,    DType::kInt16,   DType::kInt32,
                                       DType::kInt64, DType::kFloat16, DType::kFloat32, DType::kFloat64,
                                       DType::kBool,  DType::kBFloat16};

constexpr std::string_view Spelling(DType dtype) {
  switch (static_cast<int>(dtype)) {
#define PLUMBLINE_DTYPE_SPELLING(number, NAME, spelling, bytes) \
  case number:                                                  \
    return spelling;
    PL_DTYPES(PLUMBLINE_DTYPE_SPELLING)
#undef PLUMBLINE_DTYPE_SPELLING
    default:
      return "no dtype";
  }
}

constexpr std::size_t SizeOf(DType dtype) {
  switch (static_cast<int>(dtype)) {
#define PLUMBLINE_DTYPE_SIZE(number, NAME, spelling, bytes) \
  case number:                                              \
    return bytes;
    PL_DTYPES(PLUMBLINE_DTYPE_SIZE)
#undef PLUMBLINE_DTYPE_SIZE
    default:
      return 0;
  }
}

// By PyTorch's number; nothing if none of ours has it.
constexpr std::optional<DType> DTypeOfNumber(std::int64_t number) {
  for (const DType dtype : kAllDTypes) {
    if (static_cast<std::int64_t>(dtype) == number) return dtype;
  }
  return std::nullopt;
}

constexpr std::optional<DType> DTypeOfSpelling(std::string_view spelling) {
  for (const DType dtype : kAllDTypes) {
    if (Spelling(dtype) == spelling) return dtype;
  }
  return std::nullopt;
}

constexpr bool IsFloating(DType dtype) {
  return dtype == DType::kFloat16 || dtype == DType::kFloat32 || dtype == DType::kFloat64 || dtype == DType::kBFloat16;
}
constexpr bool IsIntegral(DType dtype, bool include_bool = false) {
  return dtype <= DType::kInt64 || (include_bool && dtype == DType::kBool);
}
constexpr bool IsSigned(DType dtype) { return dtype != DType::kUint8 && dtype != DType::kBool; }

namespace internal {
template <class T>
constexpr std::optional<DType> FindDTypeOf() {
  if constexpr (std::is_same_v<T, std::uint8_t>) return DType::kUint8;
  if constexpr (std::is_same_v<T, std::int8_t>) return DType::kInt8;
  if constexpr (std::is_same_v<T, std::int16_t>) return DType::kInt16;
  if constexpr (std::is_same_v<T, std::int32_t>) return DType::kInt32;
  if constexpr (std::is_same_v<T, std::int64_t>) return DType::kInt64;
  if constexpr (std::is_same_v<T, Float16>) return DType::kFloat16;
  if constexpr (std::is_same_v<T, float>) return DType::kFloat32;
  if constexpr (std::is_same_v<T, double>) return DType::kFloat64;
  if constexpr (std::is_same_v<T, bool>) return DType::kBool;
  if constexpr (std::is_same_v<T, BFloat16>) return DType::kBFloat16;
  return std::nullopt;
}
}  // namespace internal

// DTypeOf<float> == DType::kFloat32; does not compile for a type that is no element type.
template <class T>
inline constexpr DType DTypeOf = internal::FindDTypeOf<std::remove_cv_t<T>>().value();

// Calls visit(std::type_identity<T>()) with the C++ type of the elements.
template <class Visit>
constexpr decltype(auto) VisitDType(DType dtype, Visit&& visit) {
  switch (dtype) {
    case DType::kUint8:
      return visit(std::type_identity<std::uint8_t>());
    case DType::kInt8:
      return visit(std::type_identity<std::int8_t>());
    case DType::kInt16:
      return visit(std::type_identity<std::int16_t>());
    case DType::kInt32:
      return visit(std::type_identity<std::int32_t>());
    case DType::kInt64:
      return visit(std::type_identity<std::int64_t>());
    case DType::kFloat16:
      return visit(std::type_identity<Float16>());
    case DType::kFloat32:
      return visit(std::type_identity<float>());
    case DType::kFloat64:
      return visit(std::type_identity<double>());
    case DType::kBool:
      return visit(std::type_identity<bool>());
    case DType::kBFloat16:
      break;
  }
  return visit(std::type_identity<BFloat16>());
}

namespace internal {
#define PLUMBLINE_DTYPE_NUMBER(number, NAME, spelling, bytes) constexpr int kNumber_##NAME = number;
PL_DTYPES(PLUMBLINE_DTYPE_NUMBER)
#undef PLUMBLINE_DTYPE_NUMBER
static_assert(static_cast<int>(DType::kUint8) == kNumber_UINT8 && static_cast<int>(DType::kInt8) == kNumber_INT8);
static_assert(static_cast<int>(DType::kInt16) == kNumber_INT16 && static_cast<int>(DType::kInt32) == kNumber_INT32);
static_assert(static_cast<int>(DType::kInt64) == kNumber_INT64 && static_cast<int>(DType::kBool) == kNumber_BOOL);
static_assert(static_cast<int>(DType::kFloat16) == kNumber_FLOAT16 &&
              static_cast<int>(DType::kFloat32) == kNumber_FLOAT32);
static_assert(static_cast<int>(DType::kFloat64) == kNumber_FLOAT64 &&
              static_cast<int>(DType::kBFloat16) == kNumber_BFLOAT16);
#define PLUMBLINE_DTYPE_COUNT(number, NAME, spelling, bytes) +1
static_assert(std::size(kAllDTypes) == 0 PL_DTYPES(PLUMBLINE_DTYPE_COUNT));
#undef PLUMBLINE_DTYPE_COUNT
}  // namespace internal

}  // namespace plumbline::reference

#endif  // PLUMBLINE_REFERENCE_TENSOR_DTYPE_H_
