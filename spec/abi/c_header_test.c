/* abi.h is C11 without a warning, has the layout that versions 1.0, 1.1 and 1.2 froze, and its constants are what the
 * tables say. */
#include "spec/abi/abi.h"
#include "spec/abi/layout_1_0.h"
#include "spec/abi/layout_1_1.h"
#include "spec/abi/layout_1_2.h"

#if UINTPTR_MAX == UINT64_MAX
#define PL_CHECK_LEAST(type, size) _Static_assert(sizeof(type) >= size, #type " lost a field");
#define PL_CHECK_SIZE(type, size) _Static_assert(sizeof(type) == size, "sizeof " #type " is frozen");
#define PL_CHECK_FIELD(type, field, offset) \
  _Static_assert(offsetof(type, field) == offset, #type "." #field " is frozen");
PL_LAYOUT_1_0_SIZES(PL_CHECK_LEAST)
PL_LAYOUT_1_0_FIELDS(PL_CHECK_FIELD)
PL_LAYOUT_1_1_SIZES(PL_CHECK_LEAST)
PL_LAYOUT_1_1_FIELDS(PL_CHECK_FIELD)
PL_LAYOUT_1_2_SIZES(PL_CHECK_SIZE)
PL_LAYOUT_1_2_FIELDS(PL_CHECK_FIELD)
#endif

_Static_assert(PL_ERROR_KERNEL_RAISED == 12 && PL_ERROR_UNCLASSIFIED == 16, "error numbers are frozen");
_Static_assert(PL_CAPABILITY(CORE) == 1 && PL_CAPABILITY(SIGNATURE_CHECK) == UINT64_C(1) << 18, "bits are frozen");
_Static_assert(PL_SIGNATURE_tensor == 1 && PL_SIGNATURE_tensor_symint_list == 21, "signature ids are frozen");

/* A C host can use the table: what a backend in C would export, and how it is asked. */
static pl_error* Describe(pl_description* out) {
  out->struct_size = sizeof *out;
  return NULL;
}

int main(void) {
  pl_adapter table = {0};
  pl_description description = {0};
  table.struct_size = sizeof table;
  table.describe = &Describe;
  if (!PL_HAS(&table, describe) || PL_HAS(&table, open)) return 1;
  if (table.describe(&description) != NULL || description.struct_size != sizeof description) return 2;
  table.struct_size = offsetof(pl_adapter, describe);
  return PL_HAS(&table, describe) ? 3 : 0;
}
