#include "reference/tensor/dlpack.h"

#include <dlpack/dlpack.h>
#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "reference/keys/error.h"

namespace plumbline::reference {
namespace {

const KeyTable& Table() { return *KeyTable::ForRelease("pytorch-1.13"); }

// What another library hands over: 2 x 3 floats, and a count of how often it was told that nobody needs them.
struct Foreign {
  float memory[8] = {0, 1, 2, 3, 4, 5, 6, 7};
  std::int64_t shape[2] = {2, 3}, strides[2] = {3, 1};
  int dropped = 0;
  DLManagedTensor managed = {};

  Foreign() {
    managed.dl_tensor = {memory, {kDLCPU, 0}, 2, {kDLFloat, 32, 1}, shape, strides, 0};
    managed.manager_ctx = this;
    managed.deleter = [](DLManagedTensor* self) { ++static_cast<Foreign*>(self->manager_ctx)->dropped; };
  }
};

TEST(DLPack, AForeignTensorIsSharedAndDroppedOnce) {
  Foreign foreign;
  foreign.managed.dl_tensor.byte_offset = 4;
  {
    Tensor row;
    {
      const Tensor a = FromDLPack(&foreign.managed, Table());
      EXPECT_EQ(a.sizes(), IntSpan({2, 3}));
      EXPECT_EQ(a.data<float>()[0], 1.0f);
      EXPECT_EQ(a.keys(), Table().SetOfNames({"CPU", "AutogradCPU"}));
      row = a.View({3}, {1}, 3);
    }
    row.data<float>()[0] = 40;
    EXPECT_EQ(foreign.memory[4], 40.0f);
    EXPECT_EQ(foreign.dropped, 0);
  }
  EXPECT_EQ(foreign.dropped, 1);
}

TEST(DLPack, WithoutStridesItIsRowMajor) {
  Foreign foreign;
  foreign.managed.dl_tensor.strides = nullptr;
  foreign.managed.deleter = nullptr;
  EXPECT_EQ(FromDLPack(&foreign.managed, Table()).strides(), IntSpan({3, 1}));
}

TEST(DLPack, WhatMakesNoSenseIsRefusedAndStaysTheCallers) {
  struct Case {
    const char* says;
    ErrorClass error_class;
    void (*spoil)(Foreign&);
  };
  using enum ErrorClass;
  const Case cases[] = {
      {"negative -3", kInvalidArgument, [](Foreign& f) { f.strides[0] = -3; }},
      {"negative -2", kInvalidArgument, [](Foreign& f) { f.shape[0] = -2; }},
      {"64 bits", kOverflow, [](Foreign& f) { f.shape[0] = f.shape[1] = std::int64_t{1} << 40; }},
      {"64 bits", kOverflow, [](Foreign& f) { f.strides[0] = std::int64_t{1} << 62; }},
      {"null", kInvalidArgument, [](Foreign& f) { f.managed.dl_tensor.data = nullptr; }},
      {"not aligned", kInvalidArgument, [](Foreign& f) { f.managed.dl_tensor.byte_offset = 2; }},
      {"-1 dimensions", kInvalidArgument, [](Foreign& f) { f.managed.dl_tensor.ndim = -1; }},
      {"no shape", kInvalidArgument, [](Foreign& f) { f.managed.dl_tensor.shape = nullptr; }},
      {"4 lanes", kUnsupported, [](Foreign& f) { f.managed.dl_tensor.dtype.lanes = 4; }},
      {"128 bits", kUnsupported, [](Foreign& f) { f.managed.dl_tensor.dtype.bits = 128; }},
      {"code 5", kUnsupported, [](Foreign& f) { f.managed.dl_tensor.dtype.code = kDLComplex; }},
      {"kind 7", kUnsupported, [](Foreign& f) { f.managed.dl_tensor.device.device_type = kDLVulkan; }},
      {"Nothing allocates memory on cuda:0", kUnsupported,
       [](Foreign& f) { f.managed.dl_tensor.device.device_type = kDLCUDA; }},
      {"number 64", kUnsupported,
       [](Foreign& f) {
         f.managed.dl_tensor.device = {kDLCUDA, 64};
       }},
  };
  for (const Case& one : cases) {
    Foreign foreign;
    one.spoil(foreign);
    try {
      FromDLPack(&foreign.managed, Table());
      ADD_FAILURE() << one.says;
    } catch (const DispatchError& error) {
      EXPECT_EQ(error.error_class(), one.error_class) << one.says;
      EXPECT_THAT(error.what(), testing::HasSubstr(one.says));
    }
    EXPECT_EQ(foreign.dropped, 0) << one.says;
  }
  EXPECT_THROW(FromDLPack(nullptr, Table()), DispatchError);
}

TEST(DLPack, EveryDTypeGoesThereAndBack) {
  for (const DType dtype : kAllDTypes) {
    const Tensor whole = Tensor::Empty({4, 6}, dtype, DeviceType::kCpu, Table());
    const Tensor view = whole.View({3, 2}, {1, 12}, 1);
    DLManagedTensor* const managed = ToDLPack(view);
    EXPECT_EQ(whole.storage().use_count(), 2);
    {
      const Tensor back = FromDLPack(managed, Table());
      EXPECT_EQ(back.dtype(), dtype);
      EXPECT_EQ(back.sizes(), view.sizes());
      EXPECT_EQ(back.strides(), view.strides());
      EXPECT_EQ(back.data(), view.data());
      EXPECT_EQ(view.use_count(), 2);
    }
    EXPECT_EQ(view.use_count(), 1);
  }
}

TEST(DLPack, ATensorLivesAsLongAsWhatWasHandedOut) {
  DLManagedTensor* managed;
  {
    const Tensor a = Tensor::Empty({2, 2}, DType::kFloat32, DeviceType::kCpu, Table());
    for (int i = 0; i < 4; ++i) a.data<float>()[i] = static_cast<float>(i);
    managed = ToDLPack(a);
  }
  EXPECT_EQ(static_cast<float*>(managed->dl_tensor.data)[3], 3.0f);
  EXPECT_EQ(managed->dl_tensor.dtype.code, kDLFloat);
  EXPECT_EQ(managed->dl_tensor.shape[1], 2);
  managed->deleter(managed);
}

TEST(DLPack, EmptyOnesNeedNoMemoryAndMetaHasNone) {
  Foreign foreign;
  foreign.shape[0] = 0;
  foreign.managed.dl_tensor.data = nullptr;
  EXPECT_EQ(FromDLPack(&foreign.managed, Table()).numel(), 0);
  EXPECT_EQ(foreign.dropped, 1);
  try {
    ToDLPack(Tensor::Empty({2}, DType::kFloat32, DeviceType::kMeta, Table()));
    ADD_FAILURE();
  } catch (const DispatchError& error) {
    EXPECT_EQ(error.error_class(), ErrorClass::kUnsupported);
  }
  EXPECT_THROW(ToDLPack(Tensor()), DispatchError);
}

}  // namespace
}  // namespace plumbline::reference
