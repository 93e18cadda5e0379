#include "fuzz/input/program_from_bytes.h"

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "fuzz/input/byte_reader.h"

namespace plumbline::fuzz {
namespace {

using scenario::Step;
using Names = std::vector<std::string>;

constexpr int kMostBefore = 6, kMostOfThread = 5;
constexpr std::size_t kMostSwitches = 64;
const Names kThreads = {"a", "b", "c"};
const Names kOperators = {"t::f", "t::g"};
const Names kKeys = {"CPU", "AutogradCPU", "CUDA", "AutogradCUDA", "BackendSelect"};
const Names kPlaces = {
    "CPU", "AutogradCPU", "CUDA", "Autograd", "CompositeExplicitAutograd", "CompositeImplicitAutograd"};

class Decoder {
 public:
  explicit Decoder(ByteReader bytes) : bytes_(bytes) { made_.release = "pytorch-1.13"; }

  scenario::Scenario Decode() {
    const int threads = 2 + bytes_.Below(2);
    // A kernel that goes on below the autograd keys, so that a call is more than one choice.
    made_.kernels.push_back({.name = "wrapper",
                             .body = {scenario::BodyRedispatch{.below = "AutogradOther", .keys = std::nullopt},
                                      scenario::BodyReturn{.values = {scenario::BodyReturn::Inner{}}}}});
    AddStep(scenario::Define{.schema = "t::f(Tensor a) -> Tensor", .library = "", .name = "df"});
    shared_.push_back("df");
    for (int i = bytes_.Below(kMostBefore + 1); i > 0; --i) Before();
    for (int t = 0; t < threads; ++t) {
      thread_ = kThreads[static_cast<std::size_t>(t)];
      own_.clear();
      guard_.clear();
      library_.clear();
      for (int i = 1 + bytes_.Below(kMostOfThread); i > 0; --i) OnThread();
    }
    return std::move(made_);
  }

 private:
  void AddStep(scenario::Action action) {
    Step step;
    step.action = std::move(action);
    step.thread = thread_;
    made_.steps.push_back(std::move(step));
  }
  std::string NewName(const char* prefix) { return prefix + std::to_string(named_++); }
  const std::string& Operator() { return kOperators[bytes_.OneIn(4) ? 1 : 0]; }
  Names Keys() {
    Names keys;
    const int bits = bytes_.Byte();
    for (std::size_t i = 0; i < kKeys.size(); ++i) {
      if ((bits >> i & 1) != 0) keys.push_back(kKeys[i]);
    }
    return keys;
  }

  // Every kernel is registered once, so that an answer tells which registration gave it; but for the wrapper, which
  // goes on below autograd and so stands at autograd keys only, or it would call itself without end.
  scenario::KernelUse Use(const std::string& key) {
    switch (bytes_.Below(6)) {
      case 4:
        return {.fallthrough = true, .kernel = "", .signature = ""};
      case 5:
        if (key.starts_with("Autograd")) return {.fallthrough = false, .kernel = "wrapper", .signature = ""};
        [[fallthrough]];
      default:
        return {.fallthrough = false, .kernel = NewName("k"), .signature = ""};
    }
  }
  scenario::Impl Impl(std::string library) {
    const std::string& key = bytes_.Of(kPlaces);
    return {.operator_name = Operator(),
            .key = key,
            .kernel = Use(key),
            .library = std::move(library),
            .name = NewName("r")};
  }
  scenario::Fallback Fallback() {
    const std::string& key = kKeys[static_cast<std::size_t>(bytes_.Below(2))];
    return {.key = key, .kernel = Use(key), .library = "", .name = NewName("r")};
  }
  scenario::Call Call() {
    scenario::Call call;
    call.operator_name = Operator();
    call.arguments = {scenario::Value::Tensor(Keys())};
    return call;
  }

  void Before() {
    switch (bytes_.Below(4)) {
      case 0:
      case 1: {
        scenario::Impl impl = Impl("");
        shared_.push_back(impl.name);
        return AddStep(std::move(impl));
      }
      case 2: {
        scenario::Fallback fallback = Fallback();
        shared_.push_back(fallback.name);
        return AddStep(std::move(fallback));
      }
      default: {
        scenario::Define define{.schema = "t::g(Tensor a) -> Tensor", .library = "", .name = NewName("d")};
        shared_.push_back(define.name);
        return AddStep(std::move(define));
      }
    }
  }

  void OnThread() {
    switch (bytes_.Below(16)) {
      case 0:
      case 1:
      case 2:
      case 3:
        return AddStep(Call());
      case 4:
      case 5:
      case 6: {
        scenario::Impl impl = Impl("");
        own_.push_back(impl.name);
        return AddStep(std::move(impl));
      }
      case 7:
      case 8: {
        const Names& from = own_.empty() || bytes_.OneIn(2) ? shared_ : own_;
        return AddStep(scenario::Release{.name = bytes_.Of(from)});
      }
      case 9: {
        scenario::Fallback fallback = Fallback();
        own_.push_back(fallback.name);
        return AddStep(std::move(fallback));
      }
      case 10: {
        scenario::Query query;
        query.kind = scenario::QueryKind::kHasKernel;
        query.subject = Operator();
        query.key = bytes_.Of(kPlaces);
        return AddStep(std::move(query));
      }
      case 11: {
        scenario::Query query;
        query.kind = bytes_.OneIn(2) ? scenario::QueryKind::kOperators : scenario::QueryKind::kTable;
        if (query.kind == scenario::QueryKind::kTable) query.subject = Operator();
        return AddStep(std::move(query));
      }
      case 12: {
        scenario::Find find{.operator_name = Operator(), .name = NewName("h")};
        scenario::Call call;
        call.handle = find.name;
        call.arguments = {scenario::Value::Tensor(Keys())};
        AddStep(std::move(find));
        return AddStep(std::move(call));
      }
      case 13: {
        if (!guard_.empty()) {
          AddStep(scenario::GuardLeave{.name = guard_});
          guard_.clear();
          return;
        }
        guard_ = NewName("g");
        return AddStep(scenario::GuardEnter{.include = bytes_.OneIn(2), .keys = Keys(), .name = guard_});
      }
      case 14: {
        scenario::Define define{.schema = "t::g(Tensor a) -> Tensor", .library = "", .name = NewName("d")};
        own_.push_back(define.name);
        return AddStep(std::move(define));
      }
      default: {  // a library of the thread's own: opened and filled, then closed
        if (!library_.empty()) {
          AddStep(scenario::LibraryClose{.name = library_});
          library_.clear();
          return;
        }
        library_ = NewName("l");
        AddStep(scenario::LibraryOpen{
            .name = library_, .kind = scenario::LibraryKind::kFragment, .name_space = "t", .key = std::nullopt});
        return AddStep(Impl(library_));
      }
    }
  }

  ByteReader bytes_;
  scenario::Scenario made_;
  std::string thread_;  // that the steps are on; empty: before the threads
  int named_ = 0;
  Names shared_, own_;  // what can be released, made before the threads, and by the thread
  std::string guard_, library_;
};

}  // namespace

Race RaceFromBytes(const std::uint8_t* data, std::size_t size) {
  ByteReader bytes(data, size);
  const std::string_view program = bytes.Text();
  Race made;
  made.scenario = Decoder(ByteReader(reinterpret_cast<const std::uint8_t*>(program.data()), program.size())).Decode();
  std::uint32_t step = 0;
  while (!bytes.done() && made.switches.size() < kMostSwitches) {
    // One byte; the long ways are coarse.
    const std::uint8_t delta = bytes.Byte();
    step += 1 + (delta < 192 ? delta : 192u + static_cast<std::uint32_t>(delta - 192) * 16u);
    made.switches.push_back({step, static_cast<std::uint32_t>(bytes.Below(3))});
  }
  return made;
}

}  // namespace plumbline::fuzz
