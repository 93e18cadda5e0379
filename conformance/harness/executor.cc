#include "conformance/harness/executor.h"

#include <dlfcn.h>
#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string_view>
#include <utility>
#include <variant>

#include "conformance/harness/backend_file.h"
#include "conformance/harness/interpreter.h"
#include "conformance/harness/introduction.h"
#include "conformance/harness/nearest.h"
#include "conformance/harness/sha256.h"
#include "spec/abi/host.h"
#include "spec/model/key_table.h"
#include "spec/scenario/capabilities_needed.h"
#include "spec/scenario/outcome_json.h"
#include "spec/scenario/parse.h"
#include "spec/scenario/print.h"

namespace plumbline::harness {
namespace {

using Json = nlohmann::json;

// A backend may take as long as so many scenarios to load, and a while on a busy machine.
constexpr int kLoadingIsLongerBy = 12;
constexpr std::chrono::milliseconds kShortestLoadingLimit = std::chrono::seconds(10);

// Requests beside that for a scenario.
constexpr const char* kViewRequest = "view ";
constexpr const char* kNamesRequest = "names";
constexpr const char* kKeysRequest = "keys";
constexpr const char* kDescribeRequest = "describe";
constexpr std::string_view kServiceRequest = "service ";

// Before a scenario's text stands the line of each of its steps in the file that it came from: the text that crosses is
// printed anew, and places that a backend tells should be the author's.
constexpr const char* kLines = "lines";

// All steps of a scenario in order, those inside of kernels first.
void ForEachStep(scenario::Scenario& scenario, const std::function<void(scenario::Step&)>& visit) {
  for (scenario::KernelDefinition& kernel : scenario.kernels) {
    for (scenario::BodyItem& item : kernel.body) {
      auto* body_step = std::get_if<scenario::BodyStep>(&item);
      if (body_step == nullptr) continue;
      for (scenario::Step& step : body_step->step) visit(step);
    }
  }
  for (scenario::Step& step : scenario.steps) visit(step);
}

std::string WithLines(scenario::Scenario scenario) {
  std::string text = kLines;
  ForEachStep(scenario, [&](scenario::Step& step) { text += " " + std::to_string(step.line); });
  return text + "\n" + scenario::Print(scenario);
}

// ---- inside the executor ----

struct Loaded {
  ExecutorConfig config;
  pl_get_adapter_function get_adapter = nullptr;
  const pl_adapter* adapter = nullptr;  // set by the first request in each executor
  BackendFacts facts;
  std::map<std::string, std::unique_ptr<model::KeyTable>> key_tables;  // by release
  bool watch_loads = false;                                            // see which library registers nothing
};

std::string ErrorText(pl_error* error) {
  const abi::PlError owned(error);
  return fmt::format("{} ({})", owned.message(), abi::ErrorClassSpelling(owned.error_class()));
}

// A backend's text may be no UTF-8, which JSON cannot hold.
std::string Dump(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

Json Describe(const BackendFacts& facts) {
  Json keys = Json::array(), fallbacks;
  for (const scenario::KeyDeclaration& key : facts.keys) {
    keys.push_back({static_cast<int>(key.kind), key.name, key.after, key.autograd});
  }
  if (facts.fallbacks) {
    fallbacks = Json::array();
    for (const BuiltinFallback& fallback : *facts.fallbacks) fallbacks.push_back({fallback.key, fallback.fallthrough});
  }
  return {{"name", facts.name},
          {"version", facts.version},
          {"release", facts.release},
          {"abi", facts.abi},
          {"keys", keys},
          {"fallbacks", fallbacks},
          {"capabilities", facts.capabilities},
          {"entries", facts.entries},
          {"loaded_for_nothing", facts.loaded_for_nothing},
          {"problems", facts.problems}};
}

void ReadFacts(const Json& json, BackendFacts& facts) {
  facts.name = json.at("name");
  facts.version = json.at("version");
  facts.release = json.at("release");
  facts.abi = json.at("abi");
  facts.capabilities = json.at("capabilities");
  facts.entries = json.at("entries").get<std::vector<std::string>>();
  facts.loaded_for_nothing = json.at("loaded_for_nothing").get<std::vector<std::string>>();
  facts.problems = json.at("problems").get<std::vector<std::string>>();
  for (const Json& key : json.at("keys")) {
    facts.keys.push_back({.kind = static_cast<scenario::KeyDeclaration::Kind>(key[0].get<int>()),
                          .name = key[1],
                          .after = key[2],
                          .autograd = key[3]});
  }
  if (json.at("fallbacks").is_array()) {
    facts.fallbacks.emplace();
    for (const Json& fallback : json.at("fallbacks")) facts.fallbacks->push_back({fallback[0], fallback[1]});
  }
}

// Empty if it does not tell them.
std::vector<std::string> FaultNames(const pl_adapter& adapter) {
  std::vector<std::string> names;
  const pl_string_sink sink{
      &names, [](void* context, pl_string text) {
        const std::string_view line = abi::View(text);
        static_cast<std::vector<std::string>*>(context)->emplace_back(line.substr(0, line.find('\t')));
      }};
  return abi::PlError(adapter.fault_list(sink)) ? std::vector<std::string>() : names;
}

// The libraries of --load, each compared with what was registered before it, where the backend can tell.
void LoadLibraries(Loaded& loaded, const pl_adapter& adapter, const model::KeyTable& keys, Progress& progress) {
  BackendFacts& facts = loaded.facts;
  if (loaded.config.load.empty()) return;
  if (!facts.Claims(PL_CAPABILITY(LOAD))) {
    facts.problems.push_back("--load was given, and the backend does not claim load");
    return;
  }
  const bool watch = loaded.watch_loads && facts.Claims(PL_CAPABILITY(INTROSPECTION));
  std::string before = watch ? TellNames(adapter, keys, false) : "";
  for (std::size_t i = 0; i < loaded.config.load.size(); ++i) {
    const std::string& path = loaded.config.load[i];
    progress.step = static_cast<int>(i);
    if (pl_error* error = adapter.load(abi::Borrow(path))) {
      facts.problems.push_back(fmt::format("--load {}: {}", path, ErrorText(error)));
      continue;
    }
    facts.loaded.push_back(std::filesystem::path(path).filename().string());
    if (!watch) continue;
    std::string after = TellNames(adapter, keys, false);
    if (after == before) facts.loaded_for_nothing.push_back(path);
    before = std::move(after);
  }
  progress.step = -1;
}

// Gets the table, reads what it says, and brings the backend into the state that the run wants.
void Prepare(Loaded& loaded, Progress& progress) {
  const pl_adapter* adapter = loaded.get_adapter(PL_ABI_MAJOR, PL_ABI_MINOR);
  BackendFacts& facts = loaded.facts;
  facts = Introduce(adapter, loaded.config.release);
  const tables::ReleaseData* release = model::FindRelease(facts.release);
  if (release == nullptr || !facts.problems.empty()) return;
  const model::KeyTable keys(*release, facts.keys);
  if (!loaded.config.fault.empty()) {
    if (!facts.Claims(PL_CAPABILITY(FAULTS))) {
      facts.problems.push_back(
          "a fault was asked for, and the backend does not claim faults; the backend `broken` does");
    } else if (pl_error* error = adapter->fault_set(abi::Borrow(loaded.config.fault))) {
      const std::vector<std::string> names = FaultNames(*adapter);
      const bool known = std::find(names.begin(), names.end(), loaded.config.fault) != names.end();
      const std::string text = ErrorText(error);
      facts.problems.push_back(known || names.empty() ? fmt::format("fault '{}': {}", loaded.config.fault, text)
                                                      : NoSuchFault(loaded.config.fault, names));
    }
  }
  LoadLibraries(loaded, *adapter, keys, progress);
  if (!loaded.config.load.empty() && facts.problems.empty()) {
    // Scenarios start from what the libraries registered, such as a fallback.
    BackendFacts now = Introduce(adapter, loaded.config.release);
    now.loaded = std::move(facts.loaded);
    now.loaded_for_nothing = std::move(facts.loaded_for_nothing);
    facts = std::move(now);
  }
  loaded.adapter = adapter;
}

std::string RunText(Loaded& loaded, const std::string& request, Progress& progress) {
  const std::size_t head = request.find('\n');
  scenario::ParseResult parsed = scenario::ParsePrinted(std::string_view(request).substr(head + 1));
  if (!parsed.scenario) {
    return Dump({{"broken", fmt::format("line {}: {}", parsed.error->line, parsed.error->message)}});
  }
  std::istringstream lines(request.substr(std::strlen(kLines), head - std::strlen(kLines)));
  ForEachStep(*parsed.scenario, [&](scenario::Step& step) {
    if (int line = 0; lines >> line && line > 0) step.line = line;  // what was generated has none
  });
  const scenario::Scenario& scenario = *parsed.scenario;
  const tables::ReleaseData* release = model::FindRelease(scenario.release);
  if (release == nullptr) return Dump({{"refused", "there is no release " + scenario.release}});
  std::unique_ptr<model::KeyTable>& shared = loaded.key_tables[scenario.release];
  if (!shared) shared = std::make_unique<model::KeyTable>(*release, loaded.facts.keys);
  std::unique_ptr<model::KeyTable> own;  // of a scenario that declares keys
  if (!scenario.declared_keys.empty()) {
    std::vector<scenario::KeyDeclaration> declared = loaded.facts.keys;
    declared.insert(declared.end(), scenario.declared_keys.begin(), scenario.declared_keys.end());
    own = std::make_unique<model::KeyTable>(*release, declared);
  }
  const model::KeyTable& keys = own ? *own : *shared;
  // What a user's library registers is in the process-wide registry, and so are the scenarios that check it.
  const bool prefer_fresh = loaded.facts.Claims(PL_CAPABILITY(FRESH_REGISTRY)) && loaded.config.load.empty();
  InterpretOptions options;
  options.fresh =
      scenario.open == scenario::OpenMode::kFresh || (scenario.open == scenario::OpenMode::kAny && prefer_fresh);
  options.on_step = [&progress](int step) { progress.step = step; };
  const Interpretation done = Interpret(*loaded.adapter, scenario, keys, options);
  if (!done.threw.empty()) return Dump({{"threw", done.threw}});
  if (!done.refused.empty()) {
    // What a backend does not have it may say so; there may be no room for what a scenario declares.
    const bool excused =
        done.refused_class == "unsupported" || done.refused_class == "not-found" || !scenario.declared_keys.empty();
    return Dump({{excused ? "refused" : "not-opened", done.refused}});
  }
  Json leaks = Json::array();
  for (const auto& [kernel, count] : done.contexts) {
    if (count.made == count.destroyed) continue;
    leaks.push_back(
        fmt::format("kernel {}: {} registered, {} destroyed by the end", kernel, count.made, count.destroyed));
  }
  // Outcomes follow the header, one a line, so that they are written and read once.
  std::string answer = Dump({{"leaks", leaks}});
  for (const scenario::Outcome& outcome : done.outcomes) answer += "\n" + scenario::WriteOutcome(outcome);
  return answer;
}

std::string Serve(Loaded& loaded, const std::string& request, Progress& progress) {
  loaded.watch_loads = request == kDescribeRequest;
  try {
    if (loaded.adapter == nullptr) Prepare(loaded, progress);
  } catch (const std::exception& error) {
    loaded.facts.problems.push_back(fmt::format("an exception came out of its table: {}", error.what()));
  } catch (...) {
    loaded.facts.problems.push_back("an exception came out of its table");
  }
  if (request == kDescribeRequest) return Dump(Describe(loaded.facts));
  if (request == "faults") {
    std::vector<std::string> names;
    const pl_string_sink sink{&names, [](void* context, pl_string text) {
                                static_cast<std::vector<std::string>*>(context)->emplace_back(abi::View(text));
                              }};
    if (pl_error* error = loaded.adapter->fault_list(sink)) return Dump({{"broken", ErrorText(error)}});
    return Dump({{"faults", names}});
  }
  if (loaded.adapter == nullptr) return Dump({{"broken", fmt::format("{}", fmt::join(loaded.facts.problems, "; "))}});
  if (request.starts_with(kServiceRequest)) {
    return loaded.config.service(*loaded.adapter, loaded.facts, request.substr(kServiceRequest.size()), progress);
  }
  if (request.starts_with(kViewRequest) || request == kNamesRequest || request == kKeysRequest) {
    const model::KeyTable keys(*model::FindRelease(loaded.facts.release), loaded.facts.keys);
    if (request == kKeysRequest) return TellKeys(*loaded.adapter, keys);
    const bool operators = loaded.facts.Claims(PL_CAPABILITY(OPERATORS));
    if (request == kNamesRequest) return TellNames(*loaded.adapter, keys, operators);
    return TellOperator(*loaded.adapter, keys, operators, request.substr(std::strlen(kViewRequest)));
  }
  return RunText(loaded, request, progress);
}

// Loads the backend; the only thing that the parent of all executors does.
std::string Load(Loaded& loaded) {
  void* object = dlopen(loaded.config.path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (object == nullptr) {
    return fmt::format("{}\nA symbol or a library that it needs is missing: see `ldd {}`.", dlerror(),
                       loaded.config.path);
  }
  loaded.get_adapter = reinterpret_cast<pl_get_adapter_function>(dlsym(object, PL_GET_ADAPTER_SYMBOL));
  if (loaded.get_adapter == nullptr) {
    return "it exports no " PL_GET_ADAPTER_SYMBOL
           "\nA backend is a shared object that exports this function: see spec/abi/abi.h, or start from `plumbline "
           "new-adapter`.";
  }
  return "";
}

}  // namespace

std::string NoSuchFault(const std::string& name, const std::vector<std::string>& names) {
  return fmt::format("there is no fault '{}'{}\n`plumbline list faults` shows those of the backend broken.", name,
                     DidYouMean(name, names));
}

OrError<std::unique_ptr<Executor>> Executor::Start(const ExecutorConfig& config) {
  if (auto wrong = CheckSharedObject(config.path)) return InputError{*wrong};
  for (const std::string& path : config.load) {
    if (auto wrong = CheckSharedObject(path, SharedObject::kLoaded)) return InputError{*wrong};
  }
  auto loaded = std::make_shared<Loaded>();
  loaded->config = config;
  const std::chrono::milliseconds loading_limit = std::max(config.limit * kLoadingIsLongerBy, kShortestLoadingLimit);
  auto isolation = Isolation::Start(
      {.prepare = [loaded] { return Load(*loaded); },
       .serve = [loaded](const std::string& request, Progress& progress) { return Serve(*loaded, request, progress); }},
      loading_limit);
  if (!isolation.ok()) return InputError{fmt::format("backend {}: {}", config.path, isolation.error())};

  std::unique_ptr<Executor> made(new Executor);
  made->isolation_ = std::move(*isolation);
  made->config_ = config;
  made->limit_ = config.limit;
  const Reply reply = made->isolation_->Ask(kDescribeRequest, loading_limit);
  if (reply.ending != Reply::Ending::kAnswered) {
    const std::string output = reply.output.empty() ? "" : "\n" + reply.output;
    if (reply.step >= 0) {
      return InputError{fmt::format("--load {}: the process {} while this library was loaded{}",
                                    config.load[static_cast<std::size_t>(reply.step)], reply.what, output)};
    }
    return InputError{fmt::format("backend {}: it {} when it was asked who it is{}", config.path, reply.what, output)};
  }
  ReadFacts(Json::parse(reply.text), made->facts_);
  made->facts_.path = config.path;
  if (!made->facts_.problems.empty()) {
    return InputError{fmt::format("backend {}: {}", config.path,
                                  fmt::join(made->facts_.problems, fmt::format("\nbackend {}: ", config.path)))};
  }
  made->facts_.digest = Sha256OfFile(config.path).value_or("");
  for (const std::string& path : config.load) {
    made->facts_.loaded.push_back(std::filesystem::path(path).filename().string());
  }
  if (made->facts_.Claims(PL_CAPABILITY(CORE))) made->AskForUnknownKeys();
  made->Renew();
  return made;
}

// Of one that fails at it the cases will tell.
void Executor::AskForUnknownKeys() {
  const OrError<std::vector<std::string>> known = KnownKeys();
  if (!known.ok()) return;
  const model::KeyTable keys(*model::FindRelease(facts_.release), facts_.keys);
  facts_.key_count = static_cast<std::size_t>(keys.key_count());
  for (model::Key key = 0; key < keys.key_count(); ++key) {
    const std::string& name = keys.Name(key);
    if (std::find(known->begin(), known->end(), name) == known->end()) facts_.unknown_keys.push_back(name);
  }
}

Observation Executor::Run(const scenario::Scenario& scenario) {
  Observation seen;
  const std::uint64_t missing = scenario::CapabilitiesNeeded(scenario) & ~facts_.capabilities;
  if (missing != 0) {
    seen.ending = Observation::Ending::kUnsupported;
    seen.what = fmt::format("{}", fmt::join(scenario::CapabilityNames(missing), ", "));
    return seen;
  }
  const Reply reply = isolation_->Ask(WithLines(scenario), limit_);
  seen.output = reply.output;
  seen.step = reply.step;
  seen.what = reply.what;
  if (reply.ending == Reply::Ending::kTimeout) {
    seen.ending = Observation::Ending::kTimeout;
    return seen;
  }
  if (reply.ending == Reply::Ending::kCrash) {
    seen.ending = Observation::Ending::kCrash;
    return seen;
  }
  std::istringstream lines(reply.text);
  std::string line;
  std::getline(lines, line);
  const Json answer = Json::parse(line);
  if (answer.contains("threw")) {
    Renew();
    seen.ending = Observation::Ending::kCrash;
    seen.what = fmt::format("threw an exception across the ABI: {}", answer.at("threw").get<std::string>());
  } else if (answer.contains("not-opened")) {
    seen.ending = Observation::Ending::kCrash;
    seen.what = fmt::format("opened no registry: {}", answer.at("not-opened").get<std::string>());
  } else if (answer.contains("refused")) {
    seen.ending = Observation::Ending::kUnsupported;
    seen.refused = true;
    seen.what = answer.at("refused");
  } else if (answer.contains("broken")) {
    seen.ending = Observation::Ending::kHarnessError;
    seen.what = answer.at("broken");
  } else {
    seen.ending = Observation::Ending::kFinished;
    while (std::getline(lines, line)) seen.outcomes.push_back(scenario::ReadOutcome(line));
    seen.leaks = answer.at("leaks").get<std::vector<std::string>>();
  }
  return seen;
}

Reply Executor::Ask(const std::string& request, std::chrono::milliseconds limit) {
  return isolation_->Ask(std::string(kServiceRequest) + request, limit);
}

OrError<std::vector<std::string>> Executor::Faults() {
  if (!facts_.Claims(PL_CAPABILITY(FAULTS))) return InputError{fmt::format("backend {} claims no faults", facts_.name)};
  const Reply reply = isolation_->Ask("faults", limit_);
  if (reply.ending != Reply::Ending::kAnswered)
    return InputError{fmt::format("backend {} {}", facts_.name, reply.what)};
  const Json answer = Json::parse(reply.text);
  if (answer.contains("broken")) return InputError{answer.at("broken").get<std::string>()};
  return answer.at("faults").get<std::vector<std::string>>();
}

OrError<std::string> Executor::Introspect(const std::string& request) {
  if (!facts_.Claims(PL_CAPABILITY(INTROSPECTION))) {
    return InputError{
        fmt::format("backend {} does not claim introspection, so it cannot say what is registered", facts_.name)};
  }
  return Ask(request, "what is registered");
}

OrError<std::string> Executor::Ask(const std::string& request, const char* what) {
  const Reply reply = isolation_->Ask(request, limit_);
  if (reply.ending == Reply::Ending::kAnswered) return reply.text;
  return InputError{fmt::format("backend {}: it {} when it was asked {}{}{}", facts_.name, reply.what, what,
                                reply.output.empty() ? "" : "\n", reply.output)};
}

OrError<std::vector<std::string>> Executor::KnownKeys() {
  if (std::find(facts_.entries.begin(), facts_.entries.end(), "intern_key") == facts_.entries.end()) {
    return InputError{fmt::format("backend {} has no intern_key, so it cannot say which keys it knows", facts_.name)};
  }
  const OrError<std::string> told = Ask(kKeysRequest, "which keys it knows");
  if (!told.ok()) return InputError{told.error()};
  return ReadKnownKeys(*told);
}

OrError<OperatorView> Executor::View(const std::string& operator_name) {
  const OrError<std::string> told = Introspect(kViewRequest + operator_name);
  if (!told.ok()) return InputError{told.error()};
  return ReadOperator(*told);
}

OrError<OperatorNames> Executor::Names() {
  const OrError<std::string> told = Introspect(kNamesRequest);
  if (!told.ok()) return InputError{told.error()};
  return ReadNames(*told);
}

}  // namespace plumbline::harness
