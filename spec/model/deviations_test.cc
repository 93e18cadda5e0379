// Each deviation, beside what the spec says of the same steps.

#include "spec/model/deviations.h"

#include "gtest/gtest.h"
#include "spec/model/testing.h"

namespace plumbline::model {
namespace {

const char kDefine[] = "define demo::f(Tensor a) -> Tensor\n";

// `steps` with the calls' outcomes by the spec and by the deviation in place of "$1", "$2", ...
void Compare(Deviations deviations, const std::string& steps, const std::vector<std::string>& by_spec,
             const std::vector<std::string>& by_deviation, const std::string& release = "pytorch-1.13") {
  const auto fill = [&](const std::vector<std::string>& outcomes) {
    std::string text = steps;
    for (std::size_t i = 0; i < outcomes.size(); ++i) {
      const std::string hole = "$" + std::to_string(i + 1);
      const std::size_t at = text.find(hole);
      text.replace(at, hole.size(), "=> " + outcomes[i]);
    }
    return text;
  };
  CheckModel(fill(by_spec), {}, release);
  CheckModel(fill(by_deviation), With(std::move(deviations)), release);
}

TEST(DeviationsTest, HaveNames) {
  EXPECT_GE(AllDeviations().size(), 8u);
  for (const DeviationInfo& info : AllDeviations()) {
    EXPECT_EQ(FindDeviation(info.name), info.deviation);
    EXPECT_FALSE(info.what.empty());
  }
  EXPECT_EQ(FindDeviation("nonsense"), std::nullopt);
}

TEST(DeviationsTest, StaleAutogradOther) {
  Compare({Deviation::kStaleAutogradOther},
          std::string(kDefine) +
              "impl demo::f CompositeImplicitAutograd k1\n"
              "impl demo::f SparseCPU k2 as r2\n"
              "call demo::f [AutogradOther] $1\n"
              "query computed demo::f AutogradOther => true\n"
              "impl demo::f HIP k3\n"
              "call demo::f [AutogradOther] $2\n"
              "release r2\n"
              "call demo::f [AutogradOther] $3\n",
          {"error ambiguous", "error ambiguous", "k1"}, {"k1", "error ambiguous", "error ambiguous"});
}

TEST(DeviationsTest, StaleAutogradNestedTensor) {
  Compare({Deviation::kStaleAutogradNestedTensor},
          std::string(kDefine) +
              "impl demo::f CompositeImplicitAutograd k1\n"
              "impl demo::f NestedTensorCPU k2\n"
              "call demo::f [NestedTensorCPU AutogradNestedTensor] $1\n"
              "call demo::f [Lazy] => k1\n"
              "call demo::f [TESTING_ONLY_GenericMode] $2\n",
          {"error no-kernel", "error no-kernel"}, {"k1", "error internal"});
}

TEST(DeviationsTest, StaleAfterCompositeExplicit) {
  const std::string steps = std::string(kDefine) +
                            "impl demo::f CompositeImplicitAutograd k1 as r1\n"
                            "impl demo::f CompositeExplicitAutograd k2 as r2\n"
                            "call demo::f [CPU AutogradCPU] $1\n"
                            "call demo::f [NestedTensorCPU] $2\n"
                            "call demo::f [CPU] => k2\n"
                            "release r1\n"
                            "call demo::f [CPU AutogradCPU] => k2\n";
  Compare({Deviation::kStaleAfterCompositeExplicit}, steps, {"k2", "error no-kernel"}, {"k1", "k1"});
  // In the other order, and with a deviation that this is none of, nothing is stale.
  CheckModel(std::string(kDefine) +
                 "impl demo::f CompositeExplicitAutograd k2\n"
                 "impl demo::f CompositeImplicitAutograd k1\n"
                 "call demo::f [CPU AutogradCPU] => k2\n",
             With({Deviation::kStaleAfterCompositeExplicit}));
  Compare({Deviation::kStaleAutogradOther}, steps, {"k2", "error no-kernel"}, {"k2", "error no-kernel"});
}

TEST(DeviationsTest, AStaleSlotKeepsAReleasedKernel) {
  CheckModel(std::string(kDefine) +
                 "impl demo::f CompositeExplicitAutograd k2 as r2\n"
                 "impl demo::f CompositeImplicitAutograd k1 as r1\n"
                 "impl demo::f Autograd k3\n"
                 "release r2\n"
                 "call demo::f [CPU AutogradCPU] => k3\n"
                 "query destroyed k2 => count 1\n",
             With({Deviation::kStaleAfterCompositeExplicit}));
  // The dump is computed afresh, and so shows what should be.
  CheckModel(std::string(kDefine) +
                 "impl demo::f CompositeImplicitAutograd k1 as r1\n"
                 "impl demo::f SparseCPU k2 as r2\n"
                 "query has-kernel demo::f SparseCPU => true\n"
                 "call demo::f [AutogradOther] => k1\n",
             With({Deviation::kStaleAutogradOther}));
}

TEST(DeviationsTest, GuardLeaksBackendBits) {
  Compare({Deviation::kGuardLeaksBackendBits},
          std::string(kDefine) +
              "impl demo::f CPU k1\n"
              "call demo::f [CPU] => k1\n"
              "guard include [PrivateUse1] as g\n"
              "leave g\n"
              "call demo::f [CPU] $1\n"
              "on t2 call demo::f [CPU] => k1\n",
          {
              "k1 with [CPU]",
          },
          {"error no-kernel"});
}

TEST(DeviationsTest, GuardRestoresWhatItFound) {
  Compare({Deviation::kGuardRestoresWhatItFound},
          std::string(kDefine) +
              "impl demo::f CPU k1\n"
              "guard exclude [CPU] as g\n"
              "guard exclude [] as h\n"
              "leave g\n"
              "call demo::f [CPU] => k1\n"
              "leave h\n"
              "call demo::f [CPU] $1\n"
              "on t2 call demo::f [CPU] => k1\n",
          {"k1 with [CPU]"}, {"error no-key"});
  // A guard that began before another takes that one's keys with it; in opposite order, nothing differs.
  Compare({Deviation::kGuardRestoresWhatItFound},
          std::string(kDefine) +
              "impl demo::f CPU k1\n"
              "impl demo::f TESTING_ONLY_GenericMode k2\n"
              "guard exclude [TESTING_ONLY_GenericWrapper] as g\n"
              "guard exclude [TESTING_ONLY_GenericMode] as h\n"
              "leave g\n"
              "call demo::f [CPU TESTING_ONLY_GenericMode] $1\n"
              "leave h\n"
              "guard exclude [CPU] as i\n"
              "guard exclude [TESTING_ONLY_GenericMode] as j\n"
              "leave j\n"
              "call demo::f [CPU TESTING_ONLY_GenericMode] => k2\n"
              "leave i\n",
          {"k1"}, {"k2"});
}

TEST(DeviationsTest, FallbackReplacesAnother) {
  Compare({Deviation::kFallbackReplacesAnother},
          std::string(kDefine) +
              "fallback AutogradPrivateUse1 k1 as r1\n"
              "fallback AutogradPrivateUse1 k2 as r2 $1\n"
              "query destroyed k1 $2\n"
              "call demo::f [AutogradPrivateUse1] $3\n"
              "release r1\n"
              "query has-fallback AutogradPrivateUse1 => false\n"
              "fallback AutogradPrivateUse1 k3 as r3\n"
              "release r2 $4\n"
              "query destroyed k2 => count 1\n"
              "query has-fallback AutogradPrivateUse1 $5\n",
          {"error duplicate", "count 0", "k1", "error not-found", "true"}, {"ok", "count 1", "k2", "ok", "false"});
  CheckModel("fallback PrivateUse1 k1\nfallback PrivateUse1 k2 => error duplicate\n",
             With({Deviation::kFallbackReplacesAnother}));
}

TEST(DeviationsTest, SignatureOutlivesKernels) {
  Compare({Deviation::kSignatureOutlivesKernels},
          "define demo::f(Tensor a, Tensor b) -> Tensor\n"
          "impl demo::f CPU k1 typed tensor_tensor as r1\n"
          "release r1\n"
          "impl demo::f CPU k2 typed inplace $1\n"
          "call typed tensor_tensor demo::f [CUDA] [CUDA] $2\n",
          {"ok", "error schema-mismatch"}, {"error schema-mismatch", "error no-kernel"});
}

TEST(DeviationsTest, RefusedImplPoisonsSignature) {
  Compare({Deviation::kRefusedImplPoisonsSignature},
          std::string(kDefine) +
              "impl demo::f CPU k1 typed tensor_tensor => error schema-mismatch\n"
              "impl demo::f CPU k2 typed tensor $1\n"
              "impl demo::f CUDA k3\n"
              "call demo::f [CUDA] => k3\n",
          {"ok"}, {"error schema-mismatch"});
  // A kernel that another one's signature refuses poisons nothing.
  CheckModel(
      "define demo::f(Tensor a, Tensor b) -> Tensor\n"
      "impl demo::f CPU k1 typed tensor_tensor as r1\n"
      "impl demo::f CPU k2 typed inplace => error schema-mismatch\n"
      "release r1\n"
      "impl demo::f CPU k2 typed inplace\n",
      With({Deviation::kRefusedImplPoisonsSignature}));
}

TEST(DeviationsTest, RefusedImplPoisonsSymbolicCalls) {
  Compare({Deviation::kRefusedImplPoisonsSymbolicCalls},
          "define demo::f(Tensor a, SymInt b) -> Tensor\n"
          "impl demo::f CPU k1 typed tensor => error schema-mismatch\n"
          "impl demo::f CPU k2 typed tensor_symint\n"
          "call typed tensor_symint demo::f [CPU] 3 $1\n"
          "impl demo::f CUDA k3 typed tensor_int $2\n",
          {"k2", "ok"}, {"error schema-mismatch", "error schema-mismatch"});
  // A plain signature that is the call's own but for the symbols does not bind it.
  CheckModel(
      "define demo::f(Tensor a, int b, int c) -> Tensor as d\n"
      "impl demo::f CPU k1 typed tensor_int => error schema-mismatch\n"
      "impl demo::f CUDA k2\n"
      "release d\n"
      "define demo::f(Tensor a, SymInt b) -> Tensor\n"
      "call typed tensor_symint demo::f [CUDA] 3 => k2\n",
      With({Deviation::kRefusedImplPoisonsSymbolicCalls}));
}

TEST(DeviationsTest, AutogradMtiaHasNoBackend) {
  Compare({Deviation::kAutogradMtiaHasNoBackend},
          std::string(kDefine) +
              "impl demo::f MTIA k1\n"
              "impl demo::f PrivateUse1 k2\n"
              "impl demo::f CompositeImplicitAutograd k3\n"
              "call demo::f [MTIA AutogradMTIA] $1\n"
              "call demo::f [PrivateUse1 AutogradPrivateUse1] => k2\n",
          {"k1 with [MTIA]"}, {"k3 with [MTIA AutogradMTIA]"}, "pytorch-2.15");
}

TEST(DeviationsTest, MaskBeforeThreadState) {
  Compare({Deviation::kMaskBeforeThreadState},
          std::string(kDefine) +
              "impl demo::f CUDA fallthrough\n"
              "impl demo::f CompositeExplicitAutograd k2\n"
              "guard include [CUDA] as g\n"
              "call demo::f [CPU AutogradCPU] $1\n"
              "call demo::f [CUDA AutogradCUDA] => k2 with []\n",
          {"k2 with []"}, {"error fell-through"});
}

TEST(DeviationsTest, AliasFallbackFillsUndefined) {
  Compare({Deviation::kAliasFallbackFillsUndefined},
          std::string("fallback CompositeExplicitAutograd fb $1\n") + kDefine +
              "call demo::f [] $2\n"
              "call demo::f [CPU] => error no-kernel\n"
              "query has-fallback Autograd $3\n",
          {"error invalid-argument", "error no-key", "error invalid-argument"}, {"ok", "fb with []", "true"});
}

TEST(DeviationsTest, AliasFallbackIsSeenWhereUndefinedIsComputedAnew) {
  // The members of Autograd are refreshed, Undefined is none of them: who was there stays as it was, who comes later
  // runs the fallback even after it went.
  Compare({Deviation::kAliasFallbackFillsUndefined},
          std::string(kDefine) +
              "fallback Autograd fb as b $1\n"
              "call demo::f [] => error no-key\n"
              "define demo::g(Tensor a) -> Tensor as d\n"
              "call demo::g [] $2\n"
              "release b $3\n"
              "call demo::g [] $4\n"
              "query destroyed fb $5\n"
              "release d\n"
              "query destroyed fb => count 1\n",
          {"error invalid-argument", "error no-key", "error not-found", "error no-key", "count 1"},
          {"ok", "fb", "ok", "fb", "count 0"});
}

TEST(DeviationsTest, HandleOutlivesDefinition) {
  Compare({Deviation::kHandleOutlivesDefinition},
          std::string("define demo::f(Tensor a) -> Tensor as d\n") +
              "impl demo::f CPU k1 as r\n"
              "impl demo::f CompositeExplicitAutograd k2\n"
              "find demo::f as h\n"
              "release d\n"
              "call demo::f [CPU] => error not-found\n"
              "call @h [CPU] $1\n"
              "call typed tensor @h [CPU] $2\n" +
              kDefine + "call @h [CPU] => k1\n",
          {"error not-found", "error not-found"}, {"k2 with [] sees [CPU] returns arg 0", "k1 with [CPU]"});
}

// Which asks for the schema.
TEST(DeviationsTest, AHandleWithoutADefinitionEndsAtTheReleasesOwnAutogradFallback) {
  CheckModel(
      "define demo::f(Tensor a) -> Tensor as d\n"
      "impl demo::f CPU k\n"
      "find demo::f as h\n"
      "release d\n"
      "call typed tensor @h [CPU] => k\n"
      "call typed tensor @h [CPU AutogradCPU] => error not-found\n",
      With({Deviation::kHandleOutlivesDefinition}), "pytorch-2.15");
}

TEST(DeviationsTest, FallbackKeyBeatsLibrary) {
  Compare({Deviation::kFallbackKeyBeatsLibrary},
          std::string(kDefine) +
              "library l impl _ CPU\n"
              "fallback CUDA k in l $1\n"
              "call demo::f [CUDA] $2\n"
              "call demo::f [CPU] => error no-kernel\n"
              "library m impl demo CPU\n"
              "fallback CUDA k in m => error invalid-argument\n",
          {"error invalid-argument", "error no-kernel"}, {"ok", "k"});
}

TEST(DeviationsTest, BoxedCallUnchecked) {
  const std::string mismatch = "error schema-mismatch";
  Compare({Deviation::kBoxedCallUnchecked},
          "define demo::f(Tensor a, int b) -> Tensor\n"
          "call demo::f [CPU] \"3\" $1\n"
          "impl demo::f CPU k\n"
          "impl demo::f CUDA kt typed tensor_int\n"
          "call demo::f [CPU] \"3\" $2\n"
          "call demo::f [CUDA] \"3\" $3\n"
          "call demo::f [CPU] $4\n"
          "call demo::f $5\n"
          "call demo::f 3 [CPU] $6\n"
          "call demo::f [CPU] 3 4 $7\n"
          "call demo::f 5 [CPU] 3 $8\n"
          "call demo::f [CPU] 3 => k sees [CPU] 3 returns arg 0\n"
          "define demo::g(Tensor? a, Tensor b) -> Tensor\n"
          "impl demo::g CPU kg\n"
          "call demo::g [CPU] $9\n",
          {mismatch, mismatch, mismatch, mismatch, mismatch, mismatch, mismatch, mismatch, mismatch},
          {"error no-kernel", "k sees [CPU] \"3\"", mismatch, "error no-key", "error no-key", "error no-key",
           "error no-key", "k sees [CPU] 3 returns 5 arg 1", "kg sees none [CPU]"});
}

TEST(DeviationsTest, TypedCallUnchecked) {
  const std::string mismatch = "error schema-mismatch";
  Compare(
      {Deviation::kTypedCallUnchecked},
      "define demo::f(Tensor a, int b) -> Tensor\n"
      "impl demo::f CPU k\n"
      "call typed tensor demo::f [CPU] $1\n"
      "call typed tensor_optional_list demo::f [CPU] {[CUDA]} $2\n"
      "call typed tensor_nothing demo::f [CPU] $3\n"
      "call typed inplace demo::f [CPU] [CPU] $4\n"
      "call typed tensor_tensor_int demo::f [CPU] [CPU] $5\n"
      "call typed tensor_int demo::f [CPU] 3 => k sees [CPU] 3\n"
      "impl demo::f CPU kt typed tensor_int\n"
      "call typed tensor demo::f [CPU] => error schema-mismatch\n"
      "call typed tensor_symint demo::f [CPU] 3 $6\n",
      {mismatch, mismatch, mismatch, mismatch, mismatch, mismatch},
      {"k sees [CPU] returns arg 0", "error no-kernel", "k", "k returns arg 0", "k > " + mismatch, "kt sees [CPU] 3"});
}

// The fallback is boxed, and has below its values none of others.
TEST(DeviationsTest, TypedCallUncheckedThroughTheReleasesOwnAutogradFallback) {
  CheckModel(
      "define demo::f(Tensor a, int b) -> (Tensor, int)\n"
      "impl demo::f CPU k\n"
      "call typed tensor_tensor demo::f [CPU AutogradCPU] [CPU] => k sees [CPU AutogradCPU] [CPU] returns arg 0\n"
      "define demo::g(Tensor a, Tensor b) -> Tensor\n"
      "impl demo::g CPU kg\n"
      "call typed tensor demo::g [CPU AutogradCPU] => kg sees [CPU AutogradCPU] returns arg 0\n",
      With({Deviation::kTypedCallUnchecked, Deviation::kBoxedCallUnchecked}), "pytorch-2.15");
}

}  // namespace
}  // namespace plumbline::model
