// What the release tables must say, written out key by key; read from the releases themselves.
#include "spec/tables/releases.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace plumbline::tables {
namespace {

using Words = std::vector<std::string>;
using ::testing::ElementsAre;
using ::testing::ElementsAreArray;

Words Split(const std::string& text) {
  std::istringstream in(text);
  return {std::istream_iterator<std::string>(in), {}};
}

const FunctionalityData* FindFunctionality(const ReleaseData& release, std::string_view name) {
  for (const auto& functionality : release.functionalities) {
    if (functionality.name == name) return &functionality;
  }
  return nullptr;
}

Words KeysOf(const ReleaseData& release, const FunctionalityData& functionality,
             std::span<const std::string_view> without = {}) {
  if (!functionality.per_backend) return {std::string(functionality.name)};
  Words keys;
  for (const auto& component : release.components) {
    if (std::find(without.begin(), without.end(), component.name) != without.end()) continue;
    keys.push_back(std::string(functionality.prefix) + std::string(component.name));
  }
  return keys;
}

Words AllKeys(const ReleaseData& release) {
  Words keys = {"Undefined"};
  for (const auto& functionality : release.functionalities) {
    for (auto& key : KeysOf(release, functionality)) keys.push_back(key);
  }
  return keys;
}

Words Members(const ReleaseData& release, std::span<const std::string_view> functionalities,
              std::span<const std::string_view> without = {}) {
  Words keys;
  for (std::string_view name : functionalities) {
    const FunctionalityData* functionality = FindFunctionality(release, name);
    EXPECT_NE(functionality, nullptr) << name;
    if (functionality == nullptr) continue;
    for (auto& key : KeysOf(release, *functionality, without)) keys.push_back(key);
  }
  return keys;
}

std::map<std::string, Words> Aliases(const ReleaseData& release) {
  std::map<std::string, Words> members;
  for (const auto& alias : release.aliases) {
    members[std::string(alias.name)] = Members(release, alias.functionalities, alias.without_components);
  }
  return members;
}

std::string AutogradOf(const ReleaseData& release, std::string_view component) {
  for (const auto& data : release.components) {
    if (data.name == component) return std::string(data.autograd);
  }
  return "no such component";
}

std::string AutocastOf(const ReleaseData& release, std::string_view component) {
  for (const auto& data : release.components) {
    if (data.name == component) return std::string(data.autocast);
  }
  return "no such component";
}

Words Fallbacks(const ReleaseData& release, bool fallthrough) {
  Words keys;
  for (const auto& fallback : release.fallbacks) {
    if (fallback.fallthrough == fallthrough) keys.emplace_back(fallback.key);
  }
  return keys;
}

constexpr const char* kOrderOf1_13 =
    "Undefined CPU CUDA HIP XLA MPS IPU XPU HPU VE Lazy Meta PrivateUse1 PrivateUse2 PrivateUse3 FPGA ORT "
    "Vulkan Metal QuantizedCPU QuantizedCUDA QuantizedHIP QuantizedXLA QuantizedMPS QuantizedIPU "
    "QuantizedXPU QuantizedHPU QuantizedVE QuantizedLazy QuantizedMeta QuantizedPrivateUse1 "
    "QuantizedPrivateUse2 QuantizedPrivateUse3 CustomRNGKeyId MkldnnCPU SparseCPU SparseCUDA SparseHIP "
    "SparseXLA SparseMPS SparseIPU SparseXPU SparseHPU SparseVE SparseLazy SparseMeta SparsePrivateUse1 "
    "SparsePrivateUse2 SparsePrivateUse3 SparseCsrCPU SparseCsrCUDA NestedTensorCPU NestedTensorCUDA "
    "NestedTensorHIP NestedTensorXLA NestedTensorMPS NestedTensorIPU NestedTensorXPU NestedTensorHPU "
    "NestedTensorVE NestedTensorLazy NestedTensorMeta NestedTensorPrivateUse1 NestedTensorPrivateUse2 "
    "NestedTensorPrivateUse3 BackendSelect Python Fake FuncTorchDynamicLayerBackMode Functionalize Named "
    "Conjugate Negative ZeroTensor ADInplaceOrView AutogradOther AutogradCPU AutogradCUDA AutogradHIP "
    "AutogradXLA AutogradMPS AutogradIPU AutogradXPU AutogradHPU AutogradVE AutogradLazy AutogradMeta "
    "AutogradPrivateUse1 AutogradPrivateUse2 AutogradPrivateUse3 AutogradNestedTensor Tracer AutocastCPU "
    "AutocastXPU AutocastCUDA FuncTorchBatched FuncTorchVmapMode Batched VmapMode FuncTorchGradWrapper "
    "DeferredInit PythonTLSSnapshot FuncTorchDynamicLayerFrontMode TESTING_ONLY_GenericWrapper "
    "TESTING_ONLY_GenericMode PythonDispatcher";

TEST(Releases, AreFoundByName) {
  ASSERT_EQ(std::size(kReleases), 3u);
  EXPECT_EQ(FindRelease("pytorch-1.13"), kReleases[0]);
  EXPECT_EQ(FindRelease("pytorch-2.x"), kReleases[1]);
  EXPECT_EQ(FindRelease("pytorch-2.15"), kReleases[2]);
  EXPECT_EQ(FindRelease("pytorch-1.12"), nullptr);
  static_assert(FindRelease("pytorch-1.13")->components.size() == 14, "usable at compile time");
}

TEST(Releases, FitInOneWord) {
  for (const ReleaseData* release : kReleases) {
    EXPECT_LE(release->components.size(), 16u) << release->name;
    EXPECT_LE(release->components.size() + release->functionalities.size(), 64u) << release->name;
  }
}

TEST(Releases, NameEveryKeyOnce) {
  for (const ReleaseData* release : kReleases) {
    Words keys = AllKeys(*release);
    for (const auto& alias : release->aliases) keys.emplace_back(alias.name);
    for (const auto& synonym : release->synonyms) keys.emplace_back(synonym.name);
    EXPECT_EQ(std::set<std::string>(keys.begin(), keys.end()).size(), keys.size()) << release->name;
  }
}

TEST(Releases, FallbacksRunFromLowestToHighest) {
  for (const ReleaseData* release : kReleases) {
    Words order = AllKeys(*release);
    auto rank = [&](std::string_view key) { return std::find(order.begin(), order.end(), key) - order.begin(); };
    EXPECT_TRUE(std::is_sorted(release->fallbacks.begin(), release->fallbacks.end(), [&](const auto& a, const auto& b) {
      return rank(a.key) < rank(b.key);
    })) << release->name;
  }
}

TEST(Releases, ThreadDefaults) {
  for (const ReleaseData* release : kReleases) {
    EXPECT_THAT(release->thread_include, ElementsAre("BackendSelect", "ADInplaceOrView")) << release->name;
    Words autocast;
    for (const auto& functionality : release->functionalities) {
      if (functionality.name.substr(0, 8) == "Autocast") autocast.emplace_back(functionality.name);
    }
    EXPECT_THAT(release->thread_exclude, ElementsAreArray(autocast)) << release->name;
    EXPECT_THAT(release->always_below, ElementsAre("PythonDispatcher")) << release->name;
  }
}

TEST(Releases, QuietOverrides) {
  EXPECT_THAT(FindRelease("pytorch-1.13")->quiet_overrides, ElementsAre());
  EXPECT_THAT(FindRelease("pytorch-2.x")->quiet_overrides, ElementsAre("Meta"));
  EXPECT_THAT(FindRelease("pytorch-2.15")->quiet_overrides, ElementsAre("Meta", "MTIA"));
}

TEST(Releases, Synonyms) {
  for (const ReleaseData* release : kReleases) {
    std::map<std::string_view, std::string_view> synonyms;
    for (const auto& synonym : release->synonyms) synonyms[synonym.name] = synonym.means;
    EXPECT_EQ(synonyms.size(), 6u) << release->name;
    EXPECT_EQ(synonyms["CatchAll"], "Undefined") << release->name;
    EXPECT_EQ(synonyms["DefaultBackend"], "CompositeExplicitAutograd") << release->name;
    EXPECT_EQ(synonyms["Autocast"], "AutocastCUDA") << release->name;
    EXPECT_EQ(synonyms["PrivateUse1_PreAutograd"], "AutogradPrivateUse1") << release->name;
  }
}

TEST(Release1_13, KeysInOrder) {
  const ReleaseData& release = *FindRelease("pytorch-1.13");
  EXPECT_EQ(release.components.size(), 14u);
  EXPECT_EQ(release.functionalities.size(), 40u);
  EXPECT_EQ(AllKeys(release).size(), 105u + 1);
  EXPECT_THAT(AllKeys(release), ElementsAreArray(Split(kOrderOf1_13)));
}

TEST(Release1_13, AliasMembers) {
  static const std::map<std::string, const char*> kMembers = {
      {"Autograd",
       "AutogradOther AutogradCPU AutogradCUDA AutogradHIP AutogradXLA AutogradMPS AutogradIPU AutogradXPU "
       "AutogradHPU AutogradVE AutogradLazy AutogradMeta AutogradPrivateUse1 AutogradPrivateUse2 "
       "AutogradPrivateUse3 AutogradNestedTensor"},
      {"CompositeImplicitAutograd",
       "CPU CUDA HIP XLA MPS IPU XPU HPU VE Lazy Meta PrivateUse1 PrivateUse2 PrivateUse3 FPGA ORT Vulkan "
       "Metal QuantizedCPU QuantizedCUDA QuantizedHIP QuantizedXLA QuantizedMPS QuantizedIPU QuantizedXPU "
       "QuantizedHPU QuantizedVE QuantizedLazy QuantizedMeta QuantizedPrivateUse1 QuantizedPrivateUse2 "
       "QuantizedPrivateUse3 CustomRNGKeyId MkldnnCPU SparseCPU SparseCUDA SparseHIP SparseXLA SparseMPS "
       "SparseIPU SparseXPU SparseHPU SparseVE SparseLazy SparseMeta SparsePrivateUse1 SparsePrivateUse2 "
       "SparsePrivateUse3 SparseCsrCPU SparseCsrCUDA NestedTensorCPU NestedTensorCUDA NestedTensorHIP "
       "NestedTensorXLA NestedTensorMPS NestedTensorIPU NestedTensorXPU NestedTensorHPU NestedTensorVE "
       "NestedTensorLazy NestedTensorMeta NestedTensorPrivateUse1 NestedTensorPrivateUse2 "
       "NestedTensorPrivateUse3 AutogradOther AutogradCPU AutogradCUDA AutogradHIP AutogradXLA AutogradMPS "
       "AutogradIPU AutogradXPU AutogradHPU AutogradVE AutogradLazy AutogradMeta AutogradPrivateUse1 "
       "AutogradPrivateUse2 AutogradPrivateUse3 AutogradNestedTensor"},
      {"CompositeImplicitAutogradNestedTensor",
       "NestedTensorCPU NestedTensorCUDA NestedTensorHIP NestedTensorXLA NestedTensorMPS NestedTensorIPU "
       "NestedTensorXPU NestedTensorHPU NestedTensorVE NestedTensorLazy NestedTensorMeta "
       "NestedTensorPrivateUse1 NestedTensorPrivateUse2 NestedTensorPrivateUse3 AutogradNestedTensor"},
      {"CompositeExplicitAutograd",
       "CPU CUDA HIP XLA MPS IPU XPU HPU VE Lazy Meta PrivateUse1 PrivateUse2 PrivateUse3 FPGA ORT Vulkan "
       "Metal QuantizedCPU QuantizedCUDA QuantizedHIP QuantizedXLA QuantizedMPS QuantizedIPU QuantizedXPU "
       "QuantizedHPU QuantizedVE QuantizedLazy QuantizedMeta QuantizedPrivateUse1 QuantizedPrivateUse2 "
       "QuantizedPrivateUse3 CustomRNGKeyId MkldnnCPU SparseCPU SparseCUDA SparseHIP SparseXLA SparseMPS "
       "SparseIPU SparseXPU SparseHPU SparseVE SparseLazy SparseMeta SparsePrivateUse1 SparsePrivateUse2 "
       "SparsePrivateUse3 SparseCsrCPU SparseCsrCUDA"},
      {"CompositeExplicitAutogradNonFunctional",
       "CPU CUDA HIP MPS IPU XPU HPU VE Meta PrivateUse1 PrivateUse2 PrivateUse3 FPGA ORT Vulkan Metal "
       "QuantizedCPU QuantizedCUDA QuantizedHIP QuantizedMPS QuantizedIPU QuantizedXPU QuantizedHPU "
       "QuantizedVE QuantizedMeta QuantizedPrivateUse1 QuantizedPrivateUse2 QuantizedPrivateUse3 "
       "CustomRNGKeyId MkldnnCPU SparseCsrCPU SparseCsrCUDA"},
  };
  const ReleaseData& release = *FindRelease("pytorch-1.13");
  auto aliases = Aliases(release);
  ASSERT_EQ(aliases.size(), kMembers.size());
  for (const auto& [alias, members] : kMembers) {
    EXPECT_THAT(aliases[alias], ElementsAreArray(Split(members))) << alias;
  }
}

TEST(Release1_13, Fallbacks) {
  const ReleaseData& release = *FindRelease("pytorch-1.13");
  EXPECT_THAT(Fallbacks(release, true),
              ElementsAreArray(
                  Split("BackendSelect ADInplaceOrView AutogradOther AutogradCPU AutogradCUDA AutogradXLA AutogradMPS "
                        "AutogradXPU AutogradHPU AutogradLazy AutocastCPU AutocastCUDA FuncTorchVmapMode VmapMode")));
  EXPECT_THAT(Fallbacks(release, false),
              ElementsAreArray(Split(
                  "Python FuncTorchDynamicLayerBackMode Functionalize Named Conjugate Negative ZeroTensor Tracer "
                  "FuncTorchBatched Batched FuncTorchGradWrapper PythonTLSSnapshot FuncTorchDynamicLayerFrontMode "
                  "PythonDispatcher")));
}

TEST(Release1_13, AutogradKeys) {
  const ReleaseData& release = *FindRelease("pytorch-1.13");
  EXPECT_EQ(AutogradOf(release, "CPU"), "AutogradCPU");
  EXPECT_EQ(AutogradOf(release, "Meta"), "AutogradMeta");
  EXPECT_EQ(AutogradOf(release, "PrivateUse1"), "AutogradPrivateUse1");
  EXPECT_EQ(AutogradOf(release, "HIP"), "AutogradOther");
  EXPECT_EQ(AutogradOf(release, "VE"), "AutogradOther");
  EXPECT_EQ(AutocastOf(release, "XLA"), "AutocastCUDA");
  EXPECT_EQ(AutocastOf(release, "Meta"), "");

  std::map<std::string_view, Words> behind;
  for (const auto& group : release.autograd) behind[group.key] = Members(release, group.functionalities);
  EXPECT_EQ(behind.size(), 2u);
  EXPECT_THAT(behind["AutogradNestedTensor"],
              ElementsAreArray(KeysOf(release, *FindFunctionality(release, "NestedTensor"))));
  EXPECT_THAT(
      behind["AutogradOther"],
      ElementsAreArray(
          Split("FPGA ORT Vulkan Metal QuantizedCPU QuantizedCUDA QuantizedHIP QuantizedXLA QuantizedMPS QuantizedIPU "
                "QuantizedXPU QuantizedHPU QuantizedVE QuantizedLazy QuantizedMeta QuantizedPrivateUse1 "
                "QuantizedPrivateUse2 QuantizedPrivateUse3 CustomRNGKeyId MkldnnCPU SparseCPU SparseCUDA SparseHIP "
                "SparseXLA SparseMPS SparseIPU SparseXPU SparseHPU SparseVE SparseLazy SparseMeta SparsePrivateUse1 "
                "SparsePrivateUse2 SparsePrivateUse3 SparseCsrCPU SparseCsrCUDA")));
}

TEST(Release2, OrderOfComponents) {
  const ReleaseData& release = *FindRelease("pytorch-2.x");
  Words names;
  for (const auto& component : release.components) names.emplace_back(component.name);
  EXPECT_THAT(names, ElementsAreArray(Split("CPU CUDA HIP XLA MPS IPU XPU HPU VE Lazy MTIA PrivateUse1 PrivateUse2 "
                                            "PrivateUse3 Meta")));
}

TEST(Release2, WhatChangedIn1_13sOrder) {
  const ReleaseData& release = *FindRelease("pytorch-2.x");
  Words expected;
  for (const auto& functionality : FindRelease("pytorch-1.13")->functionalities) {
    std::string name(functionality.name);
    if (name == "SparseCsrCUDA") continue;
    if (name == "SparseCsrCPU") name = "SparseCsr";
    if (name == "ORT") name = "MAIA";
    if (name == "PythonDispatcher") expected.push_back("PreDispatch");
    expected.push_back(name);
    if (name == "AutocastXPU") expected.insert(expected.end(), {"AutocastIPU", "AutocastHPU", "AutocastXLA"});
    if (name == "AutocastCUDA") expected.push_back("AutocastPrivateUse1");
    if (name == "FuncTorchBatched") expected.push_back("BatchedNestedTensor");
  }
  Words names;
  for (const auto& functionality : release.functionalities) names.emplace_back(functionality.name);
  EXPECT_THAT(names, ElementsAreArray(expected));

  Words per_backend;
  for (const auto& functionality : release.functionalities) {
    if (functionality.per_backend) per_backend.emplace_back(functionality.name);
  }
  EXPECT_THAT(per_backend,
              ElementsAre("Dense", "Quantized", "Sparse", "SparseCsr", "NestedTensor", "AutogradFunctionality"));
}

TEST(Release2, Aliases) {
  auto aliases = Aliases(*FindRelease("pytorch-2.x"));
  EXPECT_EQ(aliases.size(), 6u);
  EXPECT_THAT(aliases["FuncTorchBatchedDecomposition"], ElementsAre("FuncTorchBatched"));
  EXPECT_THAT(aliases["CompositeImplicitAutograd"], ::testing::Contains("Functionalize"));
  EXPECT_THAT(aliases["CompositeExplicitAutograd"], ::testing::Contains("SparseCsrMeta"));
  EXPECT_THAT(aliases["CompositeExplicitAutogradNonFunctional"], ::testing::Contains("SparseCsrCPU"));
  EXPECT_THAT(aliases["CompositeExplicitAutogradNonFunctional"], ::testing::Not(::testing::Contains("SparseCsrXLA")));
  EXPECT_THAT(aliases["CompositeExplicitAutogradNonFunctional"], ::testing::Not(::testing::Contains("SparseCPU")));
}

TEST(Release2, WhatChangedUpTo2_15) {
  const ReleaseData& before = *FindRelease("pytorch-2.x");
  const ReleaseData& after = *FindRelease("pytorch-2.15");
  Words expected, names;
  for (const auto& component : before.components) {
    expected.emplace_back(component.name);
    if (component.name == "MTIA") expected.push_back("MAIA");
  }
  for (const auto& component : after.components) names.emplace_back(component.name);
  EXPECT_THAT(names, ElementsAreArray(expected));

  expected.clear();
  names.clear();
  for (const auto& functionality : before.functionalities) {
    const std::string name(functionality.name);
    if (name == "MAIA" || name == "Named" || name == "Fake") continue;
    if (name == "Python") expected.push_back("Fake");
    if (name == "AutocastCUDA") expected.push_back("AutocastMPS");
    expected.push_back(name);
    if (name == "AutocastCPU") expected.insert(expected.end(), {"AutocastMTIA", "AutocastMAIA"});
  }
  for (const auto& functionality : after.functionalities) names.emplace_back(functionality.name);
  EXPECT_THAT(names, ElementsAreArray(expected));
  EXPECT_THAT(Aliases(after)["CompositeImplicitAutograd"], ::testing::Not(::testing::Contains("Functionalize")));
}

TEST(Release2, Fallbacks) {
  const ReleaseData& release = *FindRelease("pytorch-2.x");
  EXPECT_THAT(Fallbacks(release, true),
              ElementsAreArray(Split("BackendSelect ADInplaceOrView AutocastCPU AutocastXPU AutocastCUDA "
                                     "FuncTorchVmapMode VmapMode")));
  Words autograd;
  for (const auto& key : Fallbacks(release, false)) {
    if (key.substr(0, 8) == "Autograd") autograd.push_back(key.substr(8));
  }
  EXPECT_THAT(autograd, ElementsAreArray(Split("Other CPU CUDA XLA MPS XPU HPU Lazy MTIA Meta")));
}

// As a 2.15 process has them.
TEST(Release2_15, Fallbacks) {
  const ReleaseData& release = *FindRelease("pytorch-2.15");
  EXPECT_THAT(Fallbacks(release, true),
              ElementsAreArray(Split("BackendSelect ADInplaceOrView AutocastCPU AutocastMTIA AutocastMAIA AutocastXPU "
                                     "AutocastMPS AutocastCUDA FuncTorchVmapMode VmapMode")));
  Words backend, autograd;
  for (const auto& key : Fallbacks(release, false)) {
    if (key.substr(0, 8) == "Autograd") autograd.push_back(key.substr(8));
    if (key == "CPU" || key == "Meta" || key == "PrivateUse1") backend.push_back(key);
  }
  EXPECT_THAT(autograd, ElementsAreArray(Split("Other CPU CUDA XLA MPS XPU HPU Lazy MTIA MAIA PrivateUse1 Meta")));
  EXPECT_THAT(backend, ElementsAre("Meta"));
}

}  // namespace
}  // namespace plumbline::tables
