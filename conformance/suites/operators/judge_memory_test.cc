#include "conformance/suites/operators/judge_memory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace plumbline::suites {
namespace {

std::string Told(const std::optional<Difference>& wrong) { return wrong ? wrong->expected + " | " + wrong->got : ""; }

// Of a program that reads `m`, then `n`, and ends with this line.
std::string Figures(const std::string& line, const MemoryReading& now, const MemoryReading& before = {}) {
  const auto program = ParseTensorProgram("program 1\nm = memory\nn = memory\nexpect n " + line + "\n");
  EXPECT_TRUE(program.ok()) << program.error();
  return Told(WrongFigure(program->statements.back().figures, now, before));
}

TEST(JudgeMemory, ABlockMayBeLargerButNotTwiceAsLarge) {
  const MemoryReading before{.live = 1000, .peak = 9000};
  EXPECT_EQ(Figures("live +4000 since m", {.live = 5000}, before), "");
  EXPECT_EQ(Figures("live +4000 since m", {.live = 8999}, before), "");
  EXPECT_EQ(Figures("live +4000 since m", {.live = 9000}, before), "live +4000 | live +8000, from 1000 to 9000");
  EXPECT_EQ(Figures("live +4000 since m", {.live = 4999}, before), "live +4000 | live +3999, from 1000 to 4999");
  EXPECT_EQ(Figures("peak -4000 since m", {.peak = 5000}, before), "");
  EXPECT_EQ(Figures("peak -4000 since m", {.peak = 1001}, before), "");
  EXPECT_EQ(Figures("peak -4000 since m", {.peak = 1000}, before), "peak -4000 | peak -8000, from 9000 to 1000");
  EXPECT_EQ(Figures("peak -4000 since m", {.peak = 5001}, before), "peak -4000 | peak -3999, from 9000 to 5001");
}

TEST(JudgeMemory, NothingIsNothingAndABlockIsABlock) {
  EXPECT_EQ(Figures("live +0 since m", {.live = 1001}, {.live = 1000}), "live +0 | live +1, from 1000 to 1001");
  EXPECT_EQ(Figures("blocks +2 since m", {.blocks = 5}, {.blocks = 3}), "");
  EXPECT_EQ(Figures("blocks +2 since m", {.blocks = 6}, {.blocks = 3}), "blocks +2 | blocks +3, from 3 to 6");
  EXPECT_EQ(Figures("kept 0 live 7", {.live = 7}), "");
  EXPECT_EQ(Figures("kept 0", {.kept = 64}), "kept 0 | kept 64");
  EXPECT_EQ(Figures("peak as live", {.live = 7, .peak = 7}), "");
  EXPECT_EQ(Figures("peak as live", {.live = 7, .peak = 8}), "peak as live, 7 | peak 8");
}

TensorState Float(Sizes sizes, std::uint64_t storage, std::uint64_t identity) {
  TensorState state;
  state.layout = HostTensor::Contiguous(PL_DTYPE_FLOAT32, std::move(sizes));
  state.storage = storage;
  state.storage_bytes = 24;
  state.identity = identity;
  return state;
}

TEST(JudgeMemory, HoldersAreTheTensorsAndNoOther) {
  const TensorState a = Float({6}, 1, 10), again = Float({6}, 1, 10), view = Float({2, 3}, 1, 11);
  HeldStorage held{1, 24, false, {{PL_DTYPE_FLOAT32, {2, 3}}, {PL_DTYPE_FLOAT32, {6}}}};
  EXPECT_EQ(Told(WrongHolders({a, view}, {held})), "");
  EXPECT_EQ(Told(WrongHolders({a, again, view}, {held})), "") << "two names of one tensor";
  EXPECT_EQ(Told(WrongHolders({a}, {held})), "1 tensor: float32 [6] | 2 tensors: float32 [2, 3], float32 [6]");
  EXPECT_EQ(Told(WrongHolders({Float({6}, 2, 12)}, {held})), "the storage is listed | it is not among the 1 that are");
  EXPECT_EQ(Told(WrongHolders({a, Float({6}, 2, 12)}, {held})), "the tensors share a storage | they do not");
  held.bytes = 20;
  EXPECT_EQ(Told(WrongHolders({a, view}, {held})), "a storage of 24 bytes | it is listed with 20");
}

// Of a capsule of {1 2} float32 at 0x1020 whose deleter ran once.
std::string Capsule(const std::string& line, bool readable = true) {
  const auto program = ParseTensorProgram("program 1\nq = dlpack float32 [2] {1 2}\nexpect q " + line + "\n");
  EXPECT_TRUE(program.ok()) << program.error();
  CapsuleState state{HostTensor::Contiguous(PL_DTYPE_FLOAT32, {2}), readable, 0x1020, 1};
  state.layout.Set(0, 1);
  state.layout.Set(1, 2);
  return Told(WrongCapsule(program->statements.back(), state));
}

TEST(JudgeMemory, CapsulesAreLookedAtAsTensorsAre) {
  EXPECT_EQ(Capsule("float32 [2] / [1] {1 2} deleted 1 aligned 32"), "");
  EXPECT_EQ(Capsule("float64"), "float64 | float32");
  EXPECT_EQ(Capsule("{1 3}"), "elements {1 3} | elements {1 2}");
  EXPECT_EQ(Capsule("{1 3}", false), "") << "on a device that the host cannot read";
  EXPECT_EQ(Capsule("deleted 0"), "its deleter ran 0 times | it ran 1 times");
  EXPECT_EQ(Capsule("aligned 64"), "an address that 64 divides | one that leaves 32");
}

}  // namespace
}  // namespace plumbline::suites
