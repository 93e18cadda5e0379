#include "reference/tensor/tensor.h"

#include <mutex>
#include <vector>

#include "reference/keys/fork_mutex.h"

namespace plumbline::reference {

TensorSlot::~TensorSlot() = default;

void Tensor::Destroy(TensorObject* object) { delete object; }

Tensor Tensor::Make(KeySet keys) { return Tensor(new TensorObject(keys, true)); }

// One undefined tensor a key table, as long-lived as the tables are.
Tensor Tensor::Undefined(const KeyTable& table) {
  static auto& mutex = *new ForkMutex(ForkRank::kTensors);
  static std::vector<Tensor>* const all = new std::vector<Tensor>();
  const std::lock_guard lock(mutex);
  while (all->size() <= table.number()) all->push_back(Tensor(static_cast<TensorObject*>(nullptr)));
  Tensor& undefined = (*all)[table.number()];
  if (undefined.object_ == nullptr) undefined = Tensor(new TensorObject(table.undefined_tensor(), false));
  return undefined;
}

Tensor::Tensor() : object_(nullptr) {
  static const Tensor* const undefined = new Tensor(Undefined(*KeyTable::ForRelease("pytorch-1.13")));
  *this = *undefined;
}

}  // namespace plumbline::reference
