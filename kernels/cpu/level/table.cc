// The table of a level.
#include "kernels/cpu/level/parts.h"

namespace plumbline::kernels::cpu::PLUMBLINE_LEVEL {

#define PLUMBLINE_STRING_OF(name) #name
#define PLUMBLINE_NAME_OF(name) PLUMBLINE_STRING_OF(name)

const LevelTable& Table() {
  static constinit LevelTable table = {};
  table.name = PLUMBLINE_NAME_OF(PLUMBLINE_LEVEL);
  AddUnary(table);
  AddMath(table);
  AddBinary(table);
  AddTernary(table);
  AddCasts(table);
  AddReductions(table);
  AddMoves(table);
  return table;
}

}  // namespace plumbline::kernels::cpu::PLUMBLINE_LEVEL
