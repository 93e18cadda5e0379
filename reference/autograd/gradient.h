// A gradient on its way through a graph: a tensor, or nothing, which stands for zeros that nobody has to make.
//
//   Gradient gradient;                      // nothing
//   gradient = Gradient(tensor);
//   if (gradient.defined()) Use(gradient.tensor());
//
// One pointer; nothing costs no count, as the undefined tensor would. Plain value.
#ifndef PLUMBLINE_REFERENCE_AUTOGRAD_GRADIENT_H_
#define PLUMBLINE_REFERENCE_AUTOGRAD_GRADIENT_H_

#include <utility>

#include "reference/autograd/inline_vector.h"
#include "reference/tensor/tensor.h"

namespace plumbline::reference {

class Gradient {
 public:
  Gradient() = default;
  // An undefined tensor is nothing.
  explicit Gradient(Tensor tensor) {
    if (tensor.defined()) object_ = std::move(tensor).Detach();
  }
  Gradient(const Gradient& other) {
    if (other.defined()) object_ = Tensor(other.tensor()).Detach();
  }
  Gradient(Gradient&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  Gradient& operator=(Gradient other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  ~Gradient() {
    if (object_ != nullptr) Tensor::Attach(object_);
  }

  bool defined() const { return object_ != nullptr; }
  // A Tensor is just its object's address.
  const Tensor& tensor() const { return reinterpret_cast<const Tensor&>(object_); }
  Tensor Take() { return Tensor::Attach(std::exchange(object_, nullptr)); }

 private:
  TensorObject* object_ = nullptr;
};
static_assert(sizeof(Gradient) == sizeof(Tensor));

using Gradients = InlineVector<Gradient, 4>;

}  // namespace plumbline::reference

#endif  // PLUMBLINE_REFERENCE_AUTOGRAD_GRADIENT_H_
