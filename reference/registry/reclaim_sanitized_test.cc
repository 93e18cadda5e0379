// Read by each compiler at hand as it would be for thread sanitizer: reclaim.h has to see that.
#include "reference/registry/reclaim.h"

#ifndef PLUMBLINE_REFERENCE_THREAD_SANITIZER
#error "reclaim.h takes this for a build without thread sanitizer, which then sees no fence and reports races"
#endif
