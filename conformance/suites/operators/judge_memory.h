// Whether what a program says of memory, of who holds it and of capsules is so.
//
//   if (const auto wrong = WrongFigure(statement.figures, now, before)) ...      // wrong->expected, wrong->got
//
// Pure; any thread.
#ifndef PLUMBLINE_CONFORMANCE_SUITES_OPERATORS_JUDGE_MEMORY_H_
#define PLUMBLINE_CONFORMANCE_SUITES_OPERATORS_JUDGE_MEMORY_H_

#include <optional>
#include <vector>

#include "conformance/suites/operators/judge_looks.h"
#include "conformance/suites/operators/program_trace.h"
#include "conformance/suites/operators/tensor_program.h"

namespace plumbline::suites {

std::optional<Difference> WrongFigure(const std::vector<FigureLook>& looks, const MemoryReading& now,
                                      const MemoryReading& before);

// The tensors share a storage, and are all that hold it.
std::optional<Difference> WrongHolders(const std::vector<TensorState>& tensors, const std::vector<HeldStorage>& told);

// Of a statement of kind kExpectCapsule.
std::optional<Difference> WrongCapsule(const Statement& statement, const CapsuleState& state);

}  // namespace plumbline::suites

#endif  // PLUMBLINE_CONFORMANCE_SUITES_OPERATORS_JUDGE_MEMORY_H_
