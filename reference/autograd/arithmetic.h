// The few operations that a backward pass itself needs: sums of gradients, and making one fit where it goes.
//
//   OperatorArithmetic arithmetic(registry);        // those of a registry, by name: aten::add.Tensor, ...
//   Backward(arithmetic, roots);                    // engine.h
//
// Each call is dispatched as any other, so that with grad mode on it is recorded in its turn. Borrows the registry. Any
// thread.
#ifndef PLUMBLINE_REFERENCE_AUTOGRAD_ARITHMETIC_H_
#define PLUMBLINE_REFERENCE_AUTOGRAD_ARITHMETIC_H_

#include "reference/registry/registry.h"
#include "reference/tensor/tensor.h"

namespace plumbline::reference {

struct Window;  // view.h

class Arithmetic {
 public:
  virtual ~Arithmetic();
  virtual Tensor Add(const Tensor& a, const Tensor& b) const = 0;    // of the same sizes
  virtual void AddTo(const Tensor& sum, const Tensor& b) const = 0;  // in place
  virtual Tensor SumTo(const Tensor& a, IntSpan sizes) const = 0;    // over what was broadcast from `sizes`
  virtual Tensor Cast(const Tensor& a, DType dtype) const = 0;
  virtual Tensor Copy(const Tensor& a, IntSpan strides) const = 0;  // laid out like that
  virtual Tensor OnesLike(const Tensor& a) const = 0;
  virtual Tensor Zeros(IntSpan sizes, DType dtype, Device device) const = 0;
  virtual void CopyInto(const Tensor& to, const Tensor& from) const = 0;                                    // in place
  virtual Tensor InWindow(const Tensor& a, IntSpan sizes, IntSpan strides, std::int64_t offset) const = 0;  // a view
  // The gradient of a window on a base, as one of the base: the sum at each element, 0 where the window does not look.
  virtual Tensor FromWindow(const Tensor& gradient, const Window& window, const Window& base) const = 0;
};

class OperatorArithmetic final : public Arithmetic {
 public:
  explicit OperatorArithmetic(const Registry& registry) : registry_(registry) {}
  Tensor Add(const Tensor& a, const Tensor& b) const override;
  void AddTo(const Tensor& sum, const Tensor& b) const override;
  Tensor SumTo(const Tensor& a, IntSpan sizes) const override;
  Tensor Cast(const Tensor& a, DType dtype) const override;
  Tensor Copy(const Tensor& a, IntSpan strides) const override;
  Tensor OnesLike(const Tensor& a) const override;
  Tensor Zeros(IntSpan sizes, DType dtype, Device device) const override;
  void CopyInto(const Tensor& to, const Tensor& from) const override;
  Tensor InWindow(const Tensor& a, IntSpan sizes, IntSpan strides, std::int64_t offset) const override;
  Tensor FromWindow(const Tensor& gradient, const Window& window, const Window& base) const override;

 private:
  const Registry& registry_;
};

}  // namespace plumbline::reference

#endif  // PLUMBLINE_REFERENCE_AUTOGRAD_ARITHMETIC_H_
