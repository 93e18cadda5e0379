#include "conformance/suites/operators/judge_changes.h"

#include <fmt/core.h>

#include <cstddef>
#include <cstring>
#include <map>
#include <set>
#include <vector>

namespace plumbline::suites {

std::size_t OwnerOf(const std::vector<const Argument*>& tensors, std::size_t i) {
  while (tensors[i]->integer >= 0) i = static_cast<std::size_t>(tensors[i]->integer);
  return i;
}

std::optional<std::string> WrongChange(const Expected& expected, const OperatorCall& call,
                                       const OperatorOutcome& outcome) {
  const std::vector<const Argument*> tensors = TensorsOf(call);
  if (outcome.arguments_after.size() != tensors.size()) return "its arguments cannot be read afterwards";
  std::set<std::size_t> written, given_back;
  for (const ExpectedTensor& result : expected.tensors) {
    if (result.same_as >= 0) (result.written ? written : given_back).insert(static_cast<std::size_t>(result.same_as));
  }
  for (const auto& [number, due] : expected.changed) {
    written.insert(static_cast<std::size_t>(number));
    HostTensor after = outcome.arguments_after[static_cast<std::size_t>(number)];
    if (after.device == kMeta) continue;
    if (const auto wrong = CompareElements(due, after)) return fmt::format("tensor argument {}: {}", number, *wrong);
  }
  // By the argument in whose memory it is: the places that may change, and whether that memory was replaced.
  std::map<std::size_t, std::set<std::int64_t>> places;
  std::set<std::size_t> resized;
  const auto note_sizes = [&](std::size_t number) {
    if (outcome.arguments_after[number].sizes != tensors[number]->tensor.sizes)
      resized.insert(OwnerOf(tensors, number));
  };
  for (const std::size_t number : given_back) note_sizes(number);
  for (const std::size_t number : written) {
    const HostTensor& before = tensors[number]->tensor;
    const std::size_t owner = OwnerOf(tensors, number);
    note_sizes(number);
    std::set<std::int64_t>& mine = places[owner];  // none, of one without elements
    for (std::int64_t i = 0; i < before.numel(); ++i) mine.insert(before.PlaceOf(i));
    if (outcome.raised.size() > number && !outcome.raised[number]) {
      return fmt::format("the version of tensor argument {}, which it writes, does not go up", number);
    }
  }
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const std::size_t owner = OwnerOf(tensors, i);
    if (resized.contains(owner) || outcome.arguments_after[i].device == kMeta) continue;
    const std::vector<std::byte>& before = tensors[owner]->tensor.storage;
    const std::vector<std::byte>& after = outcome.arguments_after[i].storage;
    if (before == after) continue;
    if (before.size() != after.size()) return fmt::format("the memory of tensor argument {} has another size", i);
    const std::size_t item = DtypeBytes(tensors[owner]->tensor.dtype);
    for (std::size_t at = 0; at < before.size() / item; ++at) {
      if (std::memcmp(before.data() + at * item, after.data() + at * item, item) == 0) continue;
      if (places[owner].contains(static_cast<std::int64_t>(at))) continue;
      return written.contains(i)
                 ? fmt::format("it changed the memory of tensor argument {} at {}, where none of its elements is", i,
                               at)
                 : fmt::format("it changed its tensor argument {}", i);
    }
  }
  if (expected.refused()) return std::nullopt;  // [TENS-043] nothing has changed, as was seen above
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const bool shares = tensors[i]->integer >= 0 || places.contains(OwnerOf(tensors, i));
    if (outcome.raised.size() > i && outcome.raised[i] && !shares) {
      return fmt::format("the version of tensor argument {} goes up, which it only reads", i);
    }
  }
  return std::nullopt;
}

}  // namespace plumbline::suites
