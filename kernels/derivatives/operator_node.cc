#include "kernels/derivatives/operator_node.h"

#include <algorithm>
#include <cctype>
#include <string_view>
#include <utility>

#include "reference/autograd/backward_pass.h"
#include "reference/autograd/grad_mode.h"
#include "reference/autograd/node.h"
#include "reference/autograd/saved_tensor.h"
#include "reference/autograd/variable.h"
#include "reference/autograd/view.h"
#include "reference/boxing/schema.h"
#include "reference/dispatch/operator.h"
#include "reference/keys/error.h"
#include "reference/keys/thread_state.h"

namespace plumbline::kernels {
namespace {

using reference::BoxedCall;
using reference::EdgeOf;
using reference::ErrorClass;
using reference::Gradient;
using reference::Gradients;
using reference::GradMode;
using reference::KeySet;
using reference::KeyTable;
using reference::Node;
using reference::NodeRef;
using reference::Operator;
using reference::RequiresGrad;
using reference::SavedTensor;
using reference::Tensor;
using reference::Throw;
using reference::Value;
using reference::ViewNote;

// "aten::native_layer_norm" is NativeLayerNormBackward.
std::string NodeName(std::string_view op) {
  op.remove_prefix(op.find("::") + 2);
  std::string name;
  bool upper = true;
  for (const char c : op.substr(0, op.find('.'))) {
    if (c != '_') name += upper ? static_cast<char>(std::toupper(static_cast<unsigned char>(c))) : c;
    upper = c == '_';
  }
  return name + "Backward";
}

template <class Each>
void EachTensor(const Value& value, Each each) {
  if (value.is_tensor()) each(*value.AsTensor());
  if (value.kind() != Value::Kind::kList) return;
  for (const Value& item : value.ToList()) {
    if (item.is_tensor()) each(*item.AsTensor());
  }
}

bool AnyRequiresGrad(const Value& value) {
  bool any = false;
  EachTensor(value, [&](const Tensor& tensor) { any = any || (tensor.has_data() && RequiresGrad(tensor)); });
  return any;
}

// What a formula asks of a tensor but its elements; of a list of tensors, a list.
Value KnownOf(const Value& value, FormulaInput::What what) {
  if (value.kind() == Value::Kind::kList) {
    std::vector<Value> list;
    for (const Value& item : value.ToList()) list.push_back(KnownOf(item, what));
    return Value(std::move(list));
  }
  const Tensor& tensor = *value.AsTensor();
  switch (what) {
    case FormulaInput::What::kSizes:
      return Value::Ints(tensor.sizes());
    case FormulaInput::What::kStrides:
      return Value::Ints(tensor.strides());
    case FormulaInput::What::kOffset:
      return Value(tensor.storage_offset());
    default:
      return Value(static_cast<std::int64_t>(tensor.dtype()));
  }
}

// What a node keeps of one input of its formulas.
struct Kept {
  SavedTensor tensor;
  Value value{};
  bool is_tensor = false;
};

class OperatorNode final : public Node {
 public:
  OperatorNode(std::shared_ptr<const OperatorRule> rule, std::span<const Value> arguments) : rule_(std::move(rule)) {
    for (const OperatorRule::Differentiable& one : rule_->differentiable) {
      bool any = false;
      EachTensor(arguments[one.argument], [&](const Tensor& tensor) {
        AddEdge(!tensor.has_data()                ? reference::Edge()
                : one.argument == 0 && in_place() ? EdgeBefore(tensor)
                                                  : EdgeOf(tensor));
        any = any || edges()[edges().size() - 1];
      });
      if (any) needed_ |= one.inputs;
    }
    kept_.resize(rule_->inputs.size());
  }

  std::string_view name() const override { return rule_->name; }

  void KeepArguments(std::span<const Value> arguments) {
    Each(FormulaInput::Of::kArgument, [&](const FormulaInput& input, Kept& kept) {
      const Value& value = arguments[input.number];
      // Written in place, it is kept as it was.
      const bool written = in_place() && input.number == 0;
      Keep(kept, input, written && input.what == FormulaInput::What::kValue ? Value(CopyOf(*value.AsTensor())) : value,
           nullptr);
    });
  }
  void KeepResults(std::span<const Value> results) {
    Each(FormulaInput::Of::kResult,
         [&](const FormulaInput& input, Kept& kept) { Keep(kept, input, results[input.number], this); });
  }

  void Apply(Gradients& in, Gradients& out) override {
    std::vector<std::optional<Value>> given(rule_->inputs.size());
    std::uint64_t unpacked = 0;
    std::size_t next = 0;
    for (const OperatorRule::Differentiable& one : rule_->differentiable) {
      // A list of tensors has an edge for each of them.
      const std::size_t from = next;
      next += Edges(one);
      bool wanted = false;
      for (std::size_t i = from; i < next; ++i) wanted = wanted || Wanted(i);
      if (!wanted) continue;
      for (std::size_t i = 0; i < given.size(); ++i) {
        const std::uint64_t bit = std::uint64_t{1} << i;
        if ((one.inputs & bit) == 0 || (unpacked & bit) != 0) continue;
        unpacked |= bit;
        given[i] = Unpack(i, in);
      }
      const std::optional<Value> gradient = Evaluate(*rule_->registry, one.gradient, given);
      if (!gradient) continue;
      std::size_t at = from;
      EachTensor(*gradient, [&](const Tensor& tensor) {
        if (at < next) out[at++] = Gradient(tensor);
      });
    }
  }

  void ReleaseSaved() override {
    for (Kept& kept : kept_) kept.tensor.Release();
  }

 private:
  bool in_place() const { return rule_->data->variant == tables::Variant::kInPlace; }

  template <class Do>
  void Each(FormulaInput::Of of, Do with) {
    for (std::size_t i = 0; i < kept_.size(); ++i) {
      if (rule_->inputs[i].of == of && (needed_ >> i & 1) != 0) with(rule_->inputs[i], kept_[i]);
    }
  }

  static void Keep(Kept& kept, const FormulaInput& input, const Value& value, const Node* result_of) {
    if (input.what != FormulaInput::What::kValue) {
      kept.value = KnownOf(value, input.what);
    } else if (value.is_tensor()) {
      kept.is_tensor = value.AsTensor()->has_data();
      if (kept.is_tensor) kept.tensor = SavedTensor(*value.AsTensor(), result_of);
    } else {
      kept.value = value;
    }
  }

  Tensor CopyOf(const Tensor& tensor) const {
    reference::Stack stack;
    stack.Push(Value(tensor));
    stack.Push(Value::None());
    const reference::ExcludeGuard below(rule_->registry->keys(), rule_->autograd);
    Operator::Find(*rule_->registry, "aten::clone").CallBoxed(stack, 2);
    return std::move(stack.Pop()).ToTensor();
  }

  std::optional<Value> Unpack(std::size_t i, const Gradients& in) {
    const FormulaInput& input = rule_->inputs[i];
    if (input.of == FormulaInput::Of::kGradient) {
      if (!in[input.number].defined()) return std::nullopt;
      return Value(in[input.number].tensor());
    }
    if (!kept_[i].is_tensor) return kept_[i].value;
    return Value(kept_[i].tensor.Unpack(*this).Take());
  }

  // No operator has two lists that have gradients.
  std::size_t Edges(const OperatorRule::Differentiable& one) const {
    return one.is_list ? edges().size() + 1 - rule_->differentiable.size() : 1;
  }
  bool Wanted(std::size_t edge) const {
    return edges()[edge] &&
           (reference::autograd_state.pass == nullptr || reference::autograd_state.pass->Wants(edges()[edge]));
  }

  const std::shared_ptr<const OperatorRule> rule_;
  std::uint64_t needed_ = 0;  // of the inputs
  std::vector<Kept> kept_;
};

void Record(const OperatorRule& rule, const std::shared_ptr<const OperatorRule>& shared, BoxedCall& boxed) {
  const std::span<Value> arguments = boxed.stack.Top(rule.arguments);
  const bool in_place = rule.data->variant == tables::Variant::kInPlace;
  bool records = false;
  if (GradMode::IsOn()) {
    for (const OperatorRule::Differentiable& one : rule.differentiable) {
      records = records || AnyRequiresGrad(arguments[one.argument]);
    }
    if (in_place && arguments[0].AsTensor()->has_data()) {
      CheckInPlace(*arguments[0].AsTensor(), records, rule.label);
    }
  }
  NodeRef node;
  if (records) {
    node = reference::MakeNode<OperatorNode>(shared, arguments);
    static_cast<OperatorNode&>(*node).KeepArguments(arguments);
  }
  const Tensor viewed = rule.makes_view ? arguments[0].ToTensor() : Tensor();
  const KeyTable& keys = rule.registry->keys();
  const std::size_t below_arguments = boxed.stack.size() - rule.arguments;
  {
    const reference::ExcludeGuard below(keys, rule.autograd);
    Operator(boxed.op).RedispatchBoxed(boxed.keys & rule.below, boxed.stack);
  }
  const std::span<Value> results = boxed.stack.Top(boxed.stack.size() - below_arguments);
  if (rule.makes_view) {
    MarkAsView(*results[0].AsTensor(), viewed, GradMode::IsOn() ? ViewNote::kPlain : ViewNote::kInNoGrad);
  }
  if (!node) return;
  for (const Value& result : results) {
    EachTensor(result, [&](const Tensor& tensor) {
      if (in_place) {
        RebaseHistory(tensor, node);
      } else if (reference::IsFloating(tensor.dtype())) {
        SetHistory(tensor, node);
      } else {
        node->AddInput(tensor);
      }
    });
  }
  static_cast<OperatorNode&>(*node).KeepResults(results);
}

}  // namespace

std::shared_ptr<const OperatorRule> RuleOf(const tables::OperatorData& op, const reference::Registry& registry) {
  const reference::Schema schema = reference::ParseSchema(op.SchemaIn(registry.keys().release()));
  auto rule = std::make_shared<OperatorRule>();
  rule->data = &op;
  rule->registry = &registry;
  rule->name = NodeName(op.of.empty() ? op.name : op.of);
  rule->label = "Operator '" + std::string(op.name) + "'";
  rule->arguments = schema.arguments.size();
  FormulaReader reader(registry, schema);
  for (std::size_t i = 0; i < schema.arguments.size(); ++i) {
    for (const tables::Derivative& derivative : op.derivatives) {
      if (derivative.argument != schema.arguments[i].name) continue;
      Term gradient = reader.Read(derivative.formula);
      const std::uint64_t inputs = InputsOf(gradient);
      const bool is_list = op.schema.find("Tensor[] " + schema.arguments[i].name) != std::string_view::npos;
      rule->differentiable.push_back({i, is_list, std::move(gradient), inputs});
    }
  }
  rule->inputs = reader.inputs();
  rule->makes_view = !schema.returns.empty() && !schema.returns[0].alias.empty() && !schema.returns[0].written;
  const KeyTable& keys = registry.keys();
  rule->below = keys.Full();
  const reference::SlotSet& autograd = keys.Members(*keys.Alias(reference::AliasRole::kAutograd));
  for (const reference::Key key : keys.runtime_keys()) {
    if (!autograd.test(static_cast<std::size_t>(key))) continue;
    rule->autograd = rule->autograd | keys.SetOf(key);
    rule->below = rule->below & keys.Below(key);
  }
  return rule;
}

reference::Kernel AutogradKernel(std::shared_ptr<const OperatorRule> rule) {
  return reference::Kernel::FromBoxed([rule = std::move(rule)](BoxedCall& boxed) { Record(*rule, rule, boxed); })
      .Permanent();
}

}  // namespace plumbline::kernels
