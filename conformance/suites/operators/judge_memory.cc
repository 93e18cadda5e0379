#include "conformance/suites/operators/judge_memory.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <string>
#include <utility>

namespace plumbline::suites {
namespace {

using Shapes = std::vector<std::pair<std::uint32_t, Sizes>>;

std::int64_t FigureOf(const MemoryReading& reading, MemoryFigure figure) {
  const std::uint64_t figures[] = {reading.live, reading.peak, reading.kept, reading.blocks};
  return static_cast<std::int64_t>(figures[static_cast<int>(figure)]);
}

// Blocks may be larger than what was asked for, but not twice as large.
bool HasGrownBy(const FigureLook& look, std::int64_t by) {
  if (look.figure == MemoryFigure::kBlocks || look.amount == 0) return by == look.amount;
  return look.amount > 0 ? by >= look.amount && by < 2 * look.amount : by <= look.amount && by > 2 * look.amount;
}

std::string ShapesOf(const Shapes& shapes) {
  std::vector<std::string> texts;
  for (const auto& [dtype, sizes] : shapes) {
    texts.push_back(fmt::format("{} [{}]", DtypeSpelling(dtype), fmt::join(sizes, ", ")));
  }
  return fmt::format("{} tensor{}: {}", texts.size(), texts.size() == 1 ? "" : "s", fmt::join(texts, ", "));
}

}  // namespace

std::optional<Difference> WrongFigure(const std::vector<FigureLook>& looks, const MemoryReading& now,
                                      const MemoryReading& before) {
  for (const FigureLook& look : looks) {  // [MEM-000] [MEM-001] [MEM-002] [OPER-142]
    const std::string_view figure = kMemoryFigures[static_cast<int>(look.figure)];
    const std::int64_t is = FigureOf(now, look.figure), was = FigureOf(before, look.figure);
    if (look.as && is != FigureOf(now, *look.as)) {
      return Difference{
          fmt::format("{} as {}, {}", figure, kMemoryFigures[static_cast<int>(*look.as)], FigureOf(now, *look.as)),
          fmt::format("{} {}", figure, is)};
    }
    if (look.as) continue;
    if (look.grown && !HasGrownBy(look, is - was)) {
      return Difference{fmt::format("{} {:+}", figure, look.amount),
                        fmt::format("{} {:+}, from {} to {}", figure, is - was, was, is)};
    }
    if (!look.grown && is != look.amount) {
      return Difference{fmt::format("{} {}", figure, look.amount), fmt::format("{} {}", figure, is)};
    }
  }
  return std::nullopt;
}

std::optional<Difference> WrongHolders(const std::vector<TensorState>& tensors, const std::vector<HeldStorage>& told) {
  const TensorState& first = tensors.front();
  const auto held =
      std::find_if(told.begin(), told.end(), [&](const HeldStorage& one) { return one.storage == first.storage; });
  if (held == told.end()) {  // [MEM-003]
    return Difference{"the storage is listed", fmt::format("it is not among the {} that are", told.size())};
  }
  if (held->bytes != first.storage_bytes) {
    return Difference{fmt::format("a storage of {} bytes", first.storage_bytes),
                      fmt::format("it is listed with {}", held->bytes)};
  }
  // A tensor with two names is one.
  std::set<std::uint64_t> seen;
  Shapes due, came = held->tensors;
  for (const TensorState& tensor : tensors) {
    if (tensor.storage != first.storage) return Difference{"the tensors share a storage", "they do not"};
    if (seen.insert(tensor.identity).second) due.emplace_back(tensor.layout.dtype, tensor.layout.sizes);
  }
  std::sort(due.begin(), due.end());
  std::sort(came.begin(), came.end());
  if (due != came) return Difference{ShapesOf(due), ShapesOf(came)};
  return std::nullopt;
}

std::optional<Difference> WrongCapsule(const Statement& statement, const CapsuleState& state) {
  TensorLooks looks = statement.looks;
  if (looks.dtype && state.layout.dtype == PL_DTYPE_NONE) {
    return Difference{std::string(DtypeSpelling(*looks.dtype)), "elements that are of no dtype"};
  }
  if (!state.readable) looks.elements.reset(), looks.bits.reset();
  if (const auto wrong = WrongLook(looks, state.layout)) return wrong;  // [MEM-010]
  if (statement.deleted && state.deleted != *statement.deleted) {       // [MEM-011] [MEM-012]
    return Difference{fmt::format("its deleter ran {} times", *statement.deleted),
                      fmt::format("it ran {} times", state.deleted)};
  }
  if (statement.aligned && state.address % static_cast<std::uint64_t>(*statement.aligned) != 0) {  // [MEM-004]
    return Difference{
        fmt::format("an address that {} divides", *statement.aligned),
        fmt::format("one that leaves {}", state.address % static_cast<std::uint64_t>(*statement.aligned))};
  }
  return std::nullopt;
}

}  // namespace plumbline::suites
