#include "kernels/spoilt_results.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

#include "reference/faults/faults.h"
#include "reference/tensor/float16.h"
#include "reference/tensor/tensor.h"

namespace plumbline::kernels {
namespace {

using reference::DeviceType;
using reference::DType;
using reference::Tensor;
using reference::Value;

// The first result, if it is on the CPU, has elements and lies in rows.
const Tensor* Rows(const Value& value) {
  if (!value.is_tensor() || !value.AsTensor()->has_data()) return nullptr;
  const Tensor* const tensor = value.AsTensor();
  if (tensor->device().type != DeviceType::kCpu || tensor->numel() == 0 || !tensor->is_contiguous()) return nullptr;
  return tensor;
}

bool Is(std::string_view op, std::initializer_list<std::string_view> ops) {
  return std::find(ops.begin(), ops.end(), op) != ops.end();
}

// Gives each element of a floating result a new value.
template <class F>
void EachFloat(const Tensor& tensor, F f) {
  const auto each = [&](auto* elements) {
    for (std::int64_t i = 0; i < tensor.numel(); ++i) {
      elements[i] = static_cast<std::decay_t<decltype(*elements)>>(
          static_cast<float>(f(static_cast<double>(static_cast<float>(elements[i])))));
    }
  };
  if (tensor.dtype() == DType::kFloat32) each(tensor.data<float>());
  if (tensor.dtype() == DType::kFloat16) each(tensor.data<reference::Float16>());
  if (tensor.dtype() == DType::kBFloat16) each(tensor.data<reference::BFloat16>());
  if (tensor.dtype() != DType::kFloat64) return;
  for (std::int64_t i = 0; i < tensor.numel(); ++i) tensor.data<double>()[i] = f(tensor.data<double>()[i]);
}

void Swap(const Tensor& tensor, std::int64_t a, std::int64_t b) {
  const std::size_t item = tensor.itemsize();
  char* const data = static_cast<char*>(tensor.data());
  char held[8];
  std::memcpy(held, data + a * static_cast<std::int64_t>(item), item);
  std::memcpy(data + a * static_cast<std::int64_t>(item), data + b * static_cast<std::int64_t>(item), item);
  std::memcpy(data + b * static_cast<std::int64_t>(item), held, item);
}

void SpoilValues(std::string_view op, std::span<const Value> arguments, const Tensor& out) {
  const Tensor* const self = arguments.empty() ? nullptr : Rows(arguments[0]);
  const auto off = [](double x) { return x * 1.001; };
  if (PLUMBLINE_FAULT(add_is_a_unit_off) && op == "add" && out.dtype() == DType::kFloat32) {
    out.data<float>()[0] = std::nextafter(out.data<float>()[0], std::numeric_limits<float>::infinity());
  }
  if (PLUMBLINE_FAULT(added_products_are_rough) && Is(op, {"add", "sub", "addcmul", "addcdiv"})) EachFloat(out, off);
  if (PLUMBLINE_FAULT(sums_are_rough) && Is(op, {"sum", "mean"})) EachFloat(out, off);
  if (PLUMBLINE_FAULT(products_of_matrices_are_rough) && Is(op, {"mm", "bmm", "addmm", "mv", "dot"})) {
    EachFloat(out, off);
  }
  if (PLUMBLINE_FAULT(softmax_is_rough) && Is(op, {"_softmax", "softmax", "_log_softmax", "log_softmax"})) {
    EachFloat(out, off);
  }
  if (PLUMBLINE_FAULT(normalised_is_shifted) && Is(op, {"layer_norm", "native_layer_norm", "native_batch_norm"})) {
    EachFloat(out, [](double x) { return x + 0.01; });
  }
  if (PLUMBLINE_FAULT(losses_are_rough) && Is(op, {"mse_loss", "l1_loss", "nll_loss", "smooth_l1_loss"})) {
    EachFloat(out, off);
  }
  if (PLUMBLINE_FAULT(integers_saturate) && Is(op, {"add", "sub", "mul", "neg", "rsub"}) &&
      out.dtype() == DType::kInt8) {
    for (std::int64_t i = 0; i < out.numel(); ++i) {
      if (out.data<std::int8_t>()[i] == -128) out.data<std::int8_t>()[i] = 127;
    }
  }
  if (PLUMBLINE_FAULT(nan_is_false) && out.dtype() == DType::kBool && Is(op, {"_to_copy", "copy", "copy_"})) {
    const Tensor* const from = op == "_to_copy" ? self : Rows(arguments[1]);
    for (std::int64_t i = 0; from != nullptr && from->dtype() == DType::kFloat32 && i < out.numel(); ++i) {
      if (std::isnan(from->data<float>()[i])) out.data<bool>()[i] = false;
    }
  }
  if (PLUMBLINE_FAULT(halves_are_summed_in_halves) && op == "sum" && out.dtype() == DType::kFloat16) {
    EachFloat(out, [](double x) { return std::min(x, 2048.0); });
  }
  if (PLUMBLINE_FAULT(subnormals_are_zero) && Is(op, {"mul", "add", "div"}) && out.dtype() == DType::kFloat32) {
    EachFloat(out, [](double x) { return std::fpclassify(static_cast<float>(x)) == FP_SUBNORMAL ? 0 : x; });
  }
  if (PLUMBLINE_FAULT(sum_of_nothing_is_one) && op == "sum" && arguments[0].AsTensor()->numel() == 0) {
    EachFloat(out, [](double) { return 1.0; });
  }
  if (PLUMBLINE_FAULT(nan_is_lost) && Is(op, {"max", "min", "maximum", "minimum", "amax", "relu", "clamp"})) {
    EachFloat(out, [](double x) { return std::isnan(x) ? 0.0 : x; });
  }
  if (PLUMBLINE_FAULT(infinity_is_the_largest) && Is(op, {"exp", "log", "reciprocal", "div"})) {
    const double most = out.dtype() == DType::kFloat64 ? 1e308 : 3e38;
    EachFloat(out, [&](double x) { return std::isinf(x) ? std::copysign(most, x) : x; });
  }
  if (PLUMBLINE_FAULT(last_of_equals_is_told) && Is(op, {"argmax", "argmin"}) && self != nullptr && out.numel() == 1 &&
      self->dtype() == DType::kFloat32) {
    const float* const elements = self->data<float>();
    std::int64_t& told = out.data<std::int64_t>()[0];
    for (std::int64_t i = told + 1; i < self->numel(); ++i) {
      if (elements[i] == elements[told] || (std::isnan(elements[i]) && std::isnan(elements[told]))) told = i;
    }
  }
  if (PLUMBLINE_FAULT(empty_product_is_not_zero) && Is(op, {"mm", "bmm"}) && arguments[0].AsTensor()->numel() == 0) {
    EachFloat(out, [](double) { return 7.0; });
  }
  if (PLUMBLINE_FAULT(negative_zero_is_zero) && Is(op, {"neg", "ceil", "round", "trunc", "log1p", "sin", "mul"})) {
    EachFloat(out, [](double x) { return x == 0 ? 0.0 : x; });
  }
  if (PLUMBLINE_FAULT(scan_skips_the_last) && Is(op, {"cumsum", "cumprod"}) && out.numel() > 1) {
    const std::size_t item = out.itemsize();
    char* const last = static_cast<char*>(out.data()) + (out.numel() - 1) * static_cast<std::int64_t>(item);
    std::memcpy(last, last - item, item);
  }
  if (PLUMBLINE_FAULT(strides_show) && self == nullptr && !arguments.empty() && arguments[0].is_tensor() &&
      arguments[0].AsTensor()->has_data() && arguments[0].AsTensor()->dim() > 1 && out.numel() > 1) {
    Swap(out, 0, 1);
  }
  if (PLUMBLINE_FAULT(mask_chooses_backwards) && Is(op, {"index", "masked_select"})) {
    for (std::int64_t i = 0; i < out.numel() / 2; ++i) Swap(out, i, out.numel() - 1 - i);
  }
  if (PLUMBLINE_FAULT(nan_sorts_below_all) && Is(op, {"sort", "topk"}) && out.dtype() == DType::kFloat32) {
    float* const elements = out.data<float>();
    std::stable_partition(elements, elements + out.numel(), [&](float x) { return std::isnan(x) == (op == "sort"); });
  }
  if (PLUMBLINE_FAULT(linspace_of_one_is_its_end) && op == "linspace" && out.numel() == 1) {
    const double end = arguments[1].kind() == Value::Kind::kInt ? static_cast<double>(arguments[1].ToInt()) : 99;
    EachFloat(out, [&](double) { return end; });
  }
  if (PLUMBLINE_FAULT(random_numbers_start_again) && Is(op, {"rand", "uniform", "randn"})) {
    EachFloat(out, [place = 0](double) mutable { return 0.125 * (place++ % 7); });
  }
  if (PLUMBLINE_FAULT(rand_reaches_its_end) && Is(op, {"rand", "uniform"})) {
    EachFloat(out, [first = true](double x) mutable { return std::exchange(first, false) ? 1.0 : x; });
  }
  if (PLUMBLINE_FAULT(dropout_does_not_scale) && Is(op, {"dropout", "native_dropout"})) {
    EachFloat(out, [](double x) { return x * 0.75; });
  }
  if (PLUMBLINE_FAULT(results_depend_on_the_call) && Is(op, {"sum", "mm", "mean", "softmax", "_softmax"})) {
    static int calls = 0;
    const double by = 1 + 1e-6 * (++calls % 2);
    EachFloat(out, [&](double x) { return x * by; });
  }
  if (PLUMBLINE_FAULT(ignored_rows_count) && Is(op, {"nll_loss", "cross_entropy_loss", "nll_loss_forward"})) {
    EachFloat(out, [](double x) { return std::isnan(x) ? 0.0 : x * 0.5; });
  }
  if (PLUMBLINE_FAULT(padding_is_an_element) && Is(op, {"max_pool2d", "max_pool2d_with_indices"})) {
    EachFloat(out, [](double x) { return std::max(x, 0.0); });
  }
  if (PLUMBLINE_FAULT(last_element_is_not_written) && Is(op, {"add", "exp", "neg", "mul", "fill", "cat"}) &&
      out.numel() > 1) {
    std::memset(static_cast<char*>(out.data()) + (out.numel() - 1) * static_cast<std::int64_t>(out.itemsize()), 0x40,
                out.itemsize());
  }
}

}  // namespace

void SpoilResults(std::string_view op, std::span<const Value> arguments, std::span<Value> results) {
  if (PLUMBLINE_FAULT(neighbours_are_written) && !results.empty() && results[0].is_tensor() &&
      results[0].AsTensor()->has_data()) {
    const Tensor& out = *results[0].AsTensor();
    // What it writes is a view that begins further in: the element before it goes too.
    if (out.device().type == DeviceType::kCpu && out.storage_offset() > 0 && out.numel() > 0) {
      std::memset(static_cast<char*>(out.data()) - out.itemsize(), 0x40, out.itemsize());
    }
  }
  for (Value& result : results) {
    if (const Tensor* const out = Rows(result)) SpoilValues(op, arguments, *out);
  }
}

}  // namespace plumbline::kernels
