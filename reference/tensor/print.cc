#include "reference/tensor/print.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>
#include <limits>
#include <vector>

namespace plumbline::reference {
namespace {

constexpr std::int64_t kMostShown = 1000;  // elements; beyond, the edges alone
constexpr std::int64_t kEdge = 3;
constexpr std::size_t kLineWidth = 80;
constexpr std::size_t kIndent = 7;  // of "tensor("

std::string Formatted(const char* format, double value) {
  char text[400];  // the largest double in full takes 310
  std::snprintf(text, sizeof text, format, value);
  return text;
}

// How the numbers of one tensor are written: floating-point ones alike, and all equally wide.
class NumberStyle {
 public:
  // Sees every number that is shown.
  void Add(double value) {
    if (!std::isfinite(value) || value == 0) return;
    whole_ = whole_ && value == std::ceil(value);
    least_ = std::min(least_, std::fabs(value));
    most_ = std::max(most_, std::fabs(value));
  }
  void Decide() {
    if (most_ == 0) return;
    const bool wide = most_ / least_ > 1000 || most_ > 1e8;
    scientific_ = wide || (!whole_ && least_ < 1e-4);
  }
  std::string operator()(double value) const {
    if (std::isnan(value)) return "nan";
    if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
    if (scientific_) return Formatted("%.4e", value);
    if (whole_) return Formatted("%.0f", value) + ".";
    return Formatted("%.4f", value);
  }

 private:
  bool whole_ = true, scientific_ = false;
  double least_ = std::numeric_limits<double>::infinity(), most_ = 0;
};

class Printer {
 public:
  explicit Printer(const Tensor& tensor)
      : tensor_(tensor), edges_(tensor.numel() > kMostShown), sizes_(tensor.sizes()), strides_(tensor.strides()) {
    const bool floating = IsFloating(tensor.dtype());
    if (floating) {
      Visit(0, 0, [&](std::int64_t offset) { style_.Add(FloatAt(offset)); });
      style_.Decide();
    }
    Visit(0, 0, [&](std::int64_t offset) { width_ = std::max(width_, Text(offset).size()); });
  }

  std::string Body() const { return Rows(0, 0, kIndent); }

 private:
  // The shown indices of a dimension; -1 stands for those left out.
  std::vector<std::int64_t> Shown(std::size_t dim) const {
    std::vector<std::int64_t> shown;
    for (std::int64_t i = 0; i < sizes_[dim]; ++i) {
      if (edges_ && sizes_[dim] > 2 * kEdge && i == kEdge) {
        shown.push_back(-1);
        i = sizes_[dim] - kEdge;
      }
      shown.push_back(i);
    }
    return shown;
  }

  void Visit(std::size_t dim, std::int64_t offset, const std::function<void(std::int64_t)>& visit) const {
    if (dim == sizes_.size()) return visit(offset);
    for (const std::int64_t i : Shown(dim)) {
      if (i >= 0) Visit(dim + 1, offset + i * strides_[dim], visit);
    }
  }

  double FloatAt(std::int64_t offset) const {
    double value = 0;
    VisitDType(tensor_.dtype(), [&]<class T>(std::type_identity<T>) {
      value = static_cast<double>(static_cast<const T*>(tensor_.data())[offset]);
    });
    return value;
  }

  std::string Text(std::int64_t offset) const {
    std::string text;
    VisitDType(tensor_.dtype(), [&]<class T>(std::type_identity<T>) {
      const T value = static_cast<const T*>(tensor_.data())[offset];
      if constexpr (std::is_same_v<T, bool>) {
        text = value ? "True" : "False";
      } else if constexpr (std::is_integral_v<T>) {
        text = std::to_string(value);
      } else {
        text = style_(static_cast<double>(value));
      }
    });
    return text;
  }

  std::string Number(std::int64_t offset) const {
    const std::string text = Text(offset);
    return std::string(width_ - text.size(), ' ') + text;
  }

  std::string Rows(std::size_t dim, std::int64_t offset, std::size_t indent) const {
    if (dim == sizes_.size()) return Number(offset);
    const bool innermost = dim + 1 == sizes_.size();
    const std::size_t a_line = std::max<std::size_t>(1, (kLineWidth - std::min(indent, kLineWidth)) / (width_ + 2));
    const std::string new_line(1, '\n'), margin(indent + 1, ' ');
    std::string text = "[";
    std::size_t count = 0;
    for (const std::int64_t i : Shown(dim)) {
      if (count > 0) {
        text += ",";
        text += !innermost            ? std::string(sizes_.size() - dim - 1, '\n') + margin
                : count % a_line == 0 ? new_line + margin
                                      : " ";
      }
      ++count;
      text += i < 0 ? (innermost ? " ..." : "...") : Rows(dim + 1, offset + i * strides_[dim], indent + 1);
    }
    return text + "]";
  }

  const Tensor& tensor_;
  const bool edges_;
  const IntSpan sizes_, strides_;
  NumberStyle style_;
  std::size_t width_ = 1;
};

}  // namespace

std::string Print(const Tensor& tensor) {
  if (!tensor.defined()) return "undefined tensor";
  if (!tensor.has_data()) return "tensor of dispatch keys alone";
  const DType dtype = tensor.dtype();
  const bool readable = tensor.device().type == DeviceType::kCpu;
  const bool named_dtype = dtype != DType::kFloat32 && dtype != DType::kInt64 && dtype != DType::kBool;
  std::string text = "tensor(";
  std::vector<std::string> facts;
  if (!readable) {
    text += "...";
    facts.push_back("device='" + tensor.device().Spelling() + "'");
    facts.push_back("size=" + Print(tensor.sizes()));
  } else if (tensor.numel() == 0) {
    text += "[]";
    if (tensor.dim() != 1) facts.push_back("size=" + Print(tensor.sizes()));
  } else {
    text += Printer(tensor).Body();
  }
  if (named_dtype || (dtype != DType::kFloat32 && (!readable || tensor.numel() == 0))) {
    facts.push_back("dtype=" + std::string(Spelling(dtype)));
  }
  std::size_t last_line = text.size() - (text.rfind('\n') + 1);  // npos + 1 is 0
  for (const std::string& fact : facts) {
    const bool fits = last_line + fact.size() + 2 < kLineWidth;
    text += (fits ? ", " : ",\n" + std::string(kIndent, ' ')) + fact;
    last_line = (fits ? last_line + 2 : kIndent) + fact.size();
  }
  return text + ")";
}

}  // namespace plumbline::reference
