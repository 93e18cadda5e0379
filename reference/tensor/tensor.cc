#include "reference/tensor/tensor.h"

#include <atomic>
#include <mutex>
#include <vector>

#include "reference/keys/fork_mutex.h"
#include "reference/keys/make_once.h"

namespace plumbline::reference {

TensorSlot::~TensorSlot() = default;

void Tensor::Destroy(TensorObject* object) { delete object; }

Tensor Tensor::Make(KeySet keys) { return Tensor(new TensorObject(keys, true)); }

// One undefined tensor a key table, as long-lived as the tables are.
Tensor Tensor::Undefined(const KeyTable& table) {
  struct Made {
    ForkMutex mutex{ForkRank::kTensors};
    std::vector<Tensor> all;
  };
  static constinit std::atomic<Made*> made_once{nullptr};
  Made& made = MakeOnce(made_once, [] { return new Made; });
  const std::lock_guard lock(made.mutex);
  while (made.all.size() <= table.number()) made.all.push_back(Tensor(static_cast<TensorObject*>(nullptr)));
  Tensor& undefined = made.all[table.number()];
  if (undefined.object_ == nullptr) undefined = Tensor(new TensorObject(table.undefined_tensor(), false));
  return undefined;
}

Tensor::Tensor() : object_(nullptr) {
  static constinit std::atomic<Tensor*> undefined{nullptr};
  *this = MakeOnce(undefined, [] { return new Tensor(Undefined(*KeyTable::ForRelease("pytorch-1.13"))); });
}

}  // namespace plumbline::reference
