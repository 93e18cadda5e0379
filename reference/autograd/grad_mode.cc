#include "reference/autograd/grad_mode.h"

namespace plumbline::reference {

constinit thread_local AutogradState autograd_state;

}  // namespace plumbline::reference
