// Uses the installed dispatcher as its header's example does, and the header of the ABI.
#include <cstdio>
#include <string>

#include "reference/dispatch/operator.h"
#include "reference/registry/registry.h"
#include "spec/abi/abi.h"

namespace {

using namespace plumbline::reference;  // NOLINT: one short program

Tensor First(const Tensor& a, const Tensor&) { return a; }

}  // namespace

int main() {
  static_assert(PL_ABI_MAJOR == 1);
  Registry registry(KeyTable::ForRelease("pytorch-1.13"));
  const Registration defined = registry.Define("demo::first(Tensor a, Tensor b) -> Tensor");
  const Registration kernel = registry.Impl("demo::first", "CPU", Kernel::FromFunction<&First>());
  const auto op = Operator::Find(registry, "demo::first").typed<Tensor(const Tensor&, const Tensor&)>();
  const Tensor cpu = Tensor::Make(registry.keys().SetOfNames({"CPU"}));
  const Tensor cuda = Tensor::Make(registry.keys().SetOfNames({"CUDA"}));
  op.call(cpu, cpu);
  try {
    op.call(cuda, cuda);
  } catch (const DispatchError& error) {
    std::printf("%s\n", error.what());
    return std::string(error.what()).find("demo::first") != std::string::npos ? 0 : 1;
  }
  return 1;
}
