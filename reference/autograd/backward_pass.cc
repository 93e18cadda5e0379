#include "reference/autograd/backward_pass.h"

#include <algorithm>
#include <string>
#include <utility>

#include "reference/autograd/grad_mode.h"
#include "reference/keys/error.h"

namespace plumbline::reference {
namespace {

bool SameSizes(IntSpan a, IntSpan b) { return std::equal(a.begin(), a.end(), b.begin(), b.end()); }

// Whether what has `sizes` was broadcast from `target`, so that summing gives it back.
bool SumsTo(IntSpan sizes, IntSpan target) {
  if (sizes.size() < target.size()) return false;
  const std::size_t front = sizes.size() - target.size();
  for (std::size_t d = 0; d < target.size(); ++d) {
    if (target[d] != sizes[front + d] && target[d] != 1) return false;
  }
  return true;
}

// In whose sums nobody else can see what is written.
bool IsOurs(const Tensor& sum) {
  return sum.use_count() == 1 && sum.storage().use_count() == 1 && sum.object().slot() == nullptr &&
         NonOverlappingAndDense(sum.sizes(), sum.strides());
}

}  // namespace

void RunTensorHook(const NodeHooks::OnGradient& hook, Gradient& gradient, std::string_view whose) {
  if (!hook) return;
  Gradient replaced = hook(gradient);
  if (!replaced.defined()) return;
  const auto refuse = [&](const std::string& why) {
    Throw(ErrorClass::kInvalidArgument, "a tensor hook, " + std::string(whose) + ", returned a gradient " + why);
  };
  if (!gradient.defined()) refuse("where it was given none");
  const Tensor& now = replaced.tensor();
  const Tensor& given = gradient.tensor();
  if (now.dtype() != given.dtype()) {
    refuse("of " + std::string(Spelling(now.dtype())) + " for one of " + std::string(Spelling(given.dtype())));
  }
  if (!SameSizes(now.sizes(), given.sizes())) {
    refuse("of sizes " + Print(now.sizes()) + " for one of " + Print(given.sizes()));
  }
  if (now.device() != given.device()) refuse("on another device than it was given");
  gradient = std::move(replaced);
}

BackwardPass::BackwardPass(const Arithmetic& arithmetic, bool keep_graph, bool create_graph)
    : arithmetic_(arithmetic), keep_graph_(keep_graph), create_graph_(create_graph), table_(16) {}

// ---- what is reached ----

BackwardPass::Waiting& BackwardPass::Find(Node* node) {
  const auto place = [this](const Node* of) {
    return (reinterpret_cast<std::uintptr_t>(of) * 0x9e3779b97f4a7c15u) >> 32 & (table_.size() - 1);
  };
  std::size_t at = place(node);
  for (; table_[at] != nullptr; at = (at + 1) & (table_.size() - 1)) {
    if (table_[at]->node == node) return *table_[at];
  }
  Waiting& made = waiting_.emplace_back();
  made.node = node;
  table_[at] = &made;
  if (2 * waiting_.size() < table_.size()) return made;
  table_.assign(2 * table_.size(), nullptr);
  for (Waiting& waiting : waiting_) {
    for (at = place(waiting.node); table_[at] != nullptr;) at = (at + 1) & (table_.size() - 1);
    table_[at] = &waiting;
  }
  return made;
}

void BackwardPass::AddRoot(const Edge& edge, Gradient gradient) {
  const std::size_t before = waiting_.size();
  Waiting& root = Find(edge.node.get());
  roots_.push_back(edge);
  // All that is reached from here, and how many gradients each will get, is known before a capture asks for it.
  for (std::size_t i = before; i < waiting_.size(); ++i) {
    Waiting& waiting = waiting_[i];
    waiting.next = next_.size();
    for (const Edge& edge : waiting.node->edges()) {
      next_.push_back(edge ? &Find(edge.node.get()) : nullptr);
      if (edge) ++next_.back()->missing;
    }
  }
  Fit(edge, gradient, [&] { return "the gradient given for root " + std::to_string(roots_.size() - 1); });
  Add(root, edge.input, std::move(gradient));
}

void BackwardPass::Capture(const Edge& edge, bool runs) {
  const std::size_t before = waiting_.size();
  Waiting& waiting = Find(edge.node.get());
  capture_inputs_.push_back(edge.input);
  captured_.emplace_back();
  if (waiting_.size() != before) return;  // no root leads there
  waiting.captures.push_back(static_cast<std::uint32_t>(captured_.size() - 1));
  if (runs) waiting.captures.back() |= kRuns;
}

// Which nodes lead to a capture. What does not is not run, and none that is run waits for it: what leads to a node that
// leads to a capture does so too.
void BackwardPass::Select() {
  if (captured_.empty()) return;
  // What a node leads to has a lower topological number.
  std::vector<Waiting*> order;
  for (Waiting& waiting : waiting_) order.push_back(&waiting);
  std::sort(order.begin(), order.end(),
            [](const Waiting* a, const Waiting* b) { return a->node->topological() < b->node->topological(); });
  for (Waiting* const waiting : order) {
    waiting->runs = false;
    for (const std::uint32_t capture : waiting->captures) waiting->runs = waiting->runs || (capture & kRuns) != 0;
    for (std::size_t i = 0; i < waiting->node->edges().size(); ++i) {
      const Waiting* const next = next_[waiting->next + i];
      waiting->runs = waiting->runs || (next != nullptr && next->reaches);
    }
    waiting->reaches = waiting->runs || !waiting->captures.empty();
  }
}

// ---- what is ready ----

void BackwardPass::Push(Waiting& waiting) {
  ready_.push_back(&waiting);
  std::push_heap(ready_.begin(), ready_.end(),
                 [](const Waiting* a, const Waiting* b) { return a->node->sequence() < b->node->sequence(); });
}

BackwardPass::Waiting& BackwardPass::Pop() {
  std::pop_heap(ready_.begin(), ready_.end(),
                [](const Waiting* a, const Waiting* b) { return a->node->sequence() < b->node->sequence(); });
  Waiting& waiting = *ready_.back();
  ready_.pop_back();
  return waiting;
}

void BackwardPass::Run() {
  Select();
  for (const Edge& root : roots_) {
    Waiting& waiting = Find(root.node.get());
    const bool there = std::find(ready_.begin(), ready_.end(), &waiting) != ready_.end();
    if (!there && waiting.reaches && waiting.missing == 0) Push(waiting);
  }
  while (!ready_.empty()) Evaluate(Pop());
  for (std::size_t i = 0; i < callbacks_.size(); ++i) {
    const std::function<void()> callback = callbacks_[i];  // it may queue more
    callback();
  }
}

void BackwardPass::Add(Waiting& to, std::uint32_t input, Gradient gradient) {
  if (to.gradients.size() <= input) {
    to.gradients.resize(std::max<std::size_t>(to.node->inputs().size(), input + std::size_t{1}));
  }
  if (!gradient.defined()) return;
  Gradient& sum = to.gradients[input];
  if (!sum.defined()) {
    sum = std::move(gradient);
  } else if (!create_graph_ && IsOurs(sum.tensor()) && sum.tensor().dtype() == gradient.tensor().dtype()) {
    arithmetic_.AddTo(sum.tensor(), gradient.tensor());
  } else {
    sum = Gradient(arithmetic_.Add(sum.tensor(), gradient.tensor()));
  }
}

// ---- running ----

void BackwardPass::Evaluate(Waiting& waiting) {
  if (waiting.gradients.size() < waiting.node->inputs().size()) waiting.gradients.resize(waiting.node->inputs().size());
  for (const std::uint32_t capture : waiting.captures) {
    const std::uint32_t number = capture & ~kRuns;
    captured_[number] = {true, waiting.gradients[capture_inputs_[number]]};
  }
  if (!waiting.runs) return waiting.gradients.clear();
  Gradients results;
  RunNode(waiting, results);
  waiting.gradients.clear();
  const auto& edges = waiting.node->edges();
  for (std::size_t i = 0; i < edges.size(); ++i) {
    Waiting* const next = next_[waiting.next + i];
    if (next == nullptr || !next->reaches) continue;
    Add(*next, edges[i].input, std::move(results[i]));
    if (--next->missing == 0) Push(*next);
  }
}

void BackwardPass::RunNode(Waiting& waiting, Gradients& results) {
  Node& node = *waiting.node;
  Gradients& gradients = waiting.gradients;
  NodeHooks* const hooks = node.hooks();
  Gradients given;  // for hooks that come after
  struct Running {
    BackwardPass& pass;
    Node& node;
    Node* const before = std::exchange(pass.running_, &node);
    ~Running() {
      pass.running_ = before;
      if (!pass.keep_graph_) node.ReleaseSaved();
    }
  } running{*this, node};
  if (hooks != nullptr) {
    for (const NodeHooks::TensorHook& hook : hooks->tensor_hooks) {
      RunTensorHook(hook.function, gradients[hook.input], "of a result of " + std::string(node.name()));
    }
    for (const NodeHooks::Retained& retained : hooks->retained) {
      const Gradient& gradient = gradients[retained.input];
      if (!gradient.defined()) continue;
      Gradient& sum = retained.gradient->gradient;
      sum = Gradient(sum.defined() ? arithmetic_.Add(sum.tensor(), gradient.tensor())
                                   : arithmetic_.Copy(gradient.tensor(), ContiguousStrides(gradient.tensor().sizes())));
    }
    for (const NodeHooks::BeforeNode& hook : hooks->before) hook(gradients);
    if (!hooks->after.empty()) {
      for (const Gradient& gradient : gradients) given.push_back(gradient);
    }
  }
  results.resize(node.edges().size());
  node.Apply(gradients, results);
  const auto fit = [&] {
    if (results.size() != node.edges().size()) {
      Throw(ErrorClass::kInvalidArgument, std::string(node.name()) + " gave " + std::to_string(results.size()) +
                                              " gradients, and has " + std::to_string(node.edges().size()) +
                                              " arguments that one goes to");
    }
    for (std::size_t i = 0; i < results.size(); ++i) {
      if (Fits(node.edges()[i], results[i])) continue;
      Fit(node.edges()[i], results[i],
          [&] { return "the gradient that " + std::string(node.name()) + " gave at index " + std::to_string(i); });
    }
  };
  fit();
  if (given.empty()) return;
  for (const NodeHooks::AfterNode& hook : hooks->after) hook(results, given);
  fit();
}

bool BackwardPass::Fits(const Edge& edge, const Gradient& gradient) {
  if (!edge || !gradient.defined() || edge.input >= edge.node->inputs().size()) return true;
  const InputInfo& wanted = edge.node->inputs()[edge.input];
  const Tensor& given = gradient.tensor();
  return given.dtype() == wanted.dtype && given.device() == wanted.device && SameSizes(given.sizes(), wanted.sizes);
}

void BackwardPass::Fit(const Edge& edge, Gradient& gradient, const std::function<std::string()>& giver) const {
  if (Fits(edge, gradient)) return;
  const InputInfo& wanted = edge.node->inputs()[edge.input];
  const Tensor& given = gradient.tensor();
  if (given.device() != wanted.device) {
    Throw(ErrorClass::kInvalidArgument, giver() + " is on another device than what it is of");
  }
  if (!SameSizes(given.sizes(), wanted.sizes)) {
    if (!SumsTo(given.sizes(), wanted.sizes)) {
      Throw(ErrorClass::kInvalidArgument, giver() + " does not fit: its sizes are " + Print(given.sizes()) +
                                              ", those of what it is of " + Print(wanted.sizes));
    }
    gradient = Gradient(arithmetic_.SumTo(given, wanted.sizes));
  }
  if (gradient.tensor().dtype() != wanted.dtype) gradient = Gradient(arithmetic_.Cast(gradient.tensor(), wanted.dtype));
}

}  // namespace plumbline::reference
