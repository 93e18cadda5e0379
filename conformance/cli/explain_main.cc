// plumbline explain: why a kernel ran or did not, rule by rule.

#include <fmt/core.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "conformance/cli/command_line.h"
#include "conformance/cli/keys_text.h"
#include "conformance/cli/paint.h"
#include "conformance/cli/registered.h"
#include "conformance/cli/scenario_file.h"
#include "conformance/harness/case_runner.h"
#include "conformance/harness/compare.h"
#include "conformance/harness/data_folder.h"
#include "conformance/harness/executor.h"
#include "conformance/harness/judge.h"
#include "conformance/harness/run_main.h"
#include "conformance/harness/text_file.h"
#include "reports/text/counted.h"
#include "spec/model/explain.h"

namespace plumbline::cli {
namespace {

using harness::Executor;
using harness::InputError;
using harness::Observation;
using harness::OperatorView;
using harness::OrError;
using model::Explanation;
using model::KeyTable;
using scenario::Outcome;
using scenario::Scenario;

struct Options {
  BackendOptions backend;
  std::string target, scenario, schema;
  std::vector<std::string> keys, impls;
  std::optional<std::string> include, exclude;
  int line = 0;
  bool no_color = false;
};

void AddTo(CLI::App& app, Options& options) {
  app.add_option("target", options.target,
                 "a scenario file (.scn; - for standard input), or an operator: ns::name or ns::name.overload")
      ->required()
      ->type_name("FILE|OPERATOR");
  options.backend.AddTo(app, false);
  app.add_option("--line", options.line, "of a scenario: only the call in this line")
      ->transform(WholeNumber(1, 1'000'000'000))
      ->type_name("N");
  app.add_option("-k,--keys", options.keys,
                 "of an operator: the keys that its tensors carry, such as CPU,AutogradCPU, or [] for none; given "
                 "several times, "
                 "one for each tensor argument in order")
      ->type_name("KEYS")
      ->allow_extra_args(false);
  app.add_option("--include", options.include, "of an operator: keys that the thread includes")->type_name("KEYS");
  app.add_option("--exclude", options.exclude,
                 "of an operator: keys that the thread excludes, such as AutogradCPU without gradients")
      ->type_name("KEYS");
  app.add_option("--scenario", options.scenario, "of an operator: run these steps first, then the call")
      ->type_name("FILE");
  app.add_option("--impl", options.impls,
                 "of an operator without --backend: suppose a kernel at this key, or with =fallthrough that it falls "
                 "through; repeatable")
      ->type_name("KEY[=fallthrough]")
      ->allow_extra_args(false);
  app.add_option("--schema", options.schema,
                 "of an operator without --backend: its schema; else it takes a tensor for each --keys")
      ->type_name("SCHEMA");
  AddNoColor(app, options.no_color);
  app.footer(
      "  plumbline explain demo.scn                                  each call of a scenario, by the spec\n"
      "  plumbline explain demo.scn --backend torch                  and what PyTorch did\n"
      "  plumbline explain mine::f --keys CPU,AutogradCPU --backend torch --load ./libmine.so\n"
      "  plumbline explain demo::f --keys CPU,AutogradCPU --impl CPU --impl CompositeImplicitAutograd\n"
      "Exit status: 0 explained; 1 the backend did something else than the spec says; 2 bad input.");
}

// Of an operator with a kernel for each backend, most are at keys that no argument carries: one line says so for all.
void FoldOtherKeys(std::vector<model::Cause>& causes) {
  constexpr const char* kKind = "key differs";
  std::vector<std::string> keys;
  model::Cause folded;
  for (const model::Cause& cause : causes) {
    if (cause.kind != kKind || cause.kernel.empty()) continue;
    folded = cause;
    const std::size_t open = cause.kernel.rfind('(');  // "kcpu (CPU)"
    keys.push_back(cause.kernel.substr(open + 1, cause.kernel.size() - open - 2));
  }
  if (keys.size() < 4) return;
  std::erase_if(causes, [&](const model::Cause& cause) { return cause.kind == kKind; });
  folded.kernel = fmt::format("the kernels at {}", fmt::join(keys, ", "));
  folded.detail = "no argument carries these keys";
  causes.push_back(std::move(folded));
}

// One explanation, painted line by line.
void PrintExplanation(Explanation explanation, model::Bodies bodies, const Painter& paint) {
  FoldOtherKeys(explanation.causes);
  std::istringstream lines(model::Print(explanation, bodies));
  std::string line;
  for (bool first = true; std::getline(lines, line); first = false) {
    const std::size_t start = line.find_first_not_of(' ');
    const std::string_view text =
        start == std::string::npos ? std::string_view() : std::string_view(line).substr(start);
    const auto painted = [&] {
      if (first) return paint.Bold(line);
      if (text.starts_with("why")) return paint.Yellow(line);
      if (text.starts_with("refused") || text.starts_with("nothing answers") || text.starts_with("failed")) {
        return paint.Red(line);
      }
      if (line.find("  yes  ") != std::string::npos || text.starts_with("answer")) return paint.Green(line);
      return line.find("  no   ") != std::string::npos ? paint.Faint(line) : paint.Plain(line);
    };
    Print("{}\n", painted());
  }
}

// The titles of the clauses that were cited, so that none has to be looked up.
void PrintClauses(const std::set<std::string>& cited) {
  OrError<std::vector<reports::Clause>> clauses = harness::ReadClauseIndex();
  if (cited.empty() || !clauses.ok()) return;
  Print("\nclauses (`plumbline list --clause ID` shows the text)\n");
  for (const reports::Clause& clause : *clauses) {
    if (cited.contains(clause.id)) Print("  {:<10} {}\n", clause.id, clause.title);
  }
}

void Cite(const Explanation& explanation, std::set<std::string>& cited) {
  for (const model::CallExplanation& call : explanation.calls) {
    for (const model::RuleTried& rule : call.rules) cited.insert(rule.clause);
  }
  for (const model::Cause& cause : explanation.causes) cited.insert(cause.clause);
  cited.erase("");
}

// What is explained: a scenario, the settings that hold for it, and which of its steps are of interest.
struct Question {
  std::string file;     // of the scenario, as a user knows it; empty: there is none
  std::string backend;  // as it was asked for; empty: none was
  Scenario scenario;
  model::Settings settings;
  std::size_t first_step = 0;
  int line = 0;  // 0: all
  model::Bodies bodies = model::Bodies::kKnown;
};

std::string NameOf(const harness::BackendFacts& facts) { return fmt::format("{} {}", facts.name, facts.version); }

// How a run that did not finish ended, in words.
std::string EndingOf(const Observation& seen) {
  switch (seen.ending) {
    case Observation::Ending::kFinished:
      return "";
    case Observation::Ending::kCrash:
    case Observation::Ending::kTimeout:
      return fmt::format("{}{}{}", seen.what, seen.output.empty() ? "" : "\n", seen.output);
    case Observation::Ending::kUnsupported:
      return (seen.refused ? "unsupported: it opens no registry for it: " : "unsupported: it lacks ") + seen.what;
    case Observation::Ending::kHarnessError:
      return "harness-error: " + seen.what;
  }
  return "";
}

// Why there is nothing to explain, and what to do.
std::string WithoutCall(const Question& question, const std::vector<Explanation>& explanations) {
  if (explanations.empty()) {
    return fmt::format(
        "{}: it calls nothing, and calls are what is explained; add one, such as `call demo::f [CPU]`, or see what its "
        "steps lead to: plumbline replay --backend {} {}",
        question.file, question.backend.empty() ? "reference" : harness::ShellPath(question.backend),
        harness::ShellPath(question.file));
  }
  std::vector<int> lines;
  for (const Explanation& explanation : explanations) lines.push_back(explanation.line);
  constexpr std::size_t kShown = 10;
  const std::size_t shown = std::min(lines.size(), kShown);
  return fmt::format("{}: there is no call in line {}; there {} in {} {}{}", question.file, question.line,
                     lines.size() == 1 ? "is one" : "are calls", lines.size() == 1 ? "line" : "lines",
                     fmt::join(lines.begin(), lines.begin() + static_cast<std::ptrdiff_t>(shown), ", "),
                     shown < lines.size() ? fmt::format(" and {} more", lines.size() - shown) : "");
}

int ExplainQuestion(const CLI::App& app, const Question& question, Executor* executor, const Painter& paint) {
  std::optional<Observation> seen;
  if (executor != nullptr) seen = executor->Run(question.scenario);
  const bool finished = seen && seen->ending == Observation::Ending::kFinished;
  const std::vector<Explanation> explanations =
      model::Explain(question.scenario, question.settings, finished ? &seen->outcomes : nullptr);

  std::set<std::string> cited;
  bool differs = false, any = false;
  for (const Explanation& explanation : explanations) {
    if (explanation.step < question.first_step || (question.line != 0 && explanation.line != question.line)) continue;
    if (any) Print("\n");
    any = true;
    PrintExplanation(explanation, question.bodies, paint);
    Cite(explanation, cited);
    if (finished) {
      const Outcome& outcome = seen->outcomes[explanation.step];
      // Only this step can differ.
      std::vector<Outcome> predicted = seen->outcomes;
      predicted[explanation.step] = explanation.outcome;
      const harness::Comparison step =
          harness::Compare(question.scenario, predicted, seen->outcomes, executor->facts().capabilities);
      const bool same = step.result != harness::Comparison::Result::kDiffers;
      differs = differs || !same;
      const std::string text =
          fmt::format("  {} did: {}  {}", NameOf(executor->facts()), harness::Describe(outcome),
                      same ? "(as the spec says)"
                           : fmt::format("(NOT as the spec says: {}; expected {})", step.what, step.expected));
      Print("{}\n", same ? paint.Green(text) : paint.Red(text));
    } else if (seen && seen->step == static_cast<int>(explanation.step) &&
               (seen->ending == Observation::Ending::kCrash || seen->ending == Observation::Ending::kTimeout)) {
      Print("{}\n", paint.Red(fmt::format("  {} ended here: {}", NameOf(executor->facts()), EndingOf(*seen))));
    }
  }
  if (!any) {
    return Complain(app, WithoutCall(question, explanations));
  }
  PrintClauses(cited);
  if (seen && !finished) {
    const bool unsupported = seen->ending == Observation::Ending::kUnsupported;
    Print("\n{}\n", paint.Red(fmt::format("{} did not run it{}: {}", NameOf(executor->facts()),
                                          unsupported ? "" : " to its end", EndingOf(*seen))));
    return unsupported ? kGood : seen->ending == Observation::Ending::kHarnessError ? kBadInput : kFailed;
  }
  if (!finished || question.line != 0) return differs ? kFailed : kGood;
  // Steps that are no calls, and what is left at the end, are judged too.
  std::vector<Outcome> predicted = model::Predict(question.scenario, question.settings);
  const harness::Comparison whole =
      harness::Compare(question.scenario, predicted, seen->outcomes, executor->facts().capabilities);
  if (whole.result != harness::Comparison::Result::kDiffers && seen->leaks.empty()) return kGood;
  Print("\n{}\n",
        paint.Red(fmt::format(
            "{} did not do all of it as the spec says{}", NameOf(executor->facts()),
            question.file.empty() ? "" : "; `plumbline replay` of the same file shows where it first differs")));
  return kFailed;
}

// ---- an operator ----

void Append(Scenario& scenario, scenario::Action action) {
  scenario.steps.push_back({.action = std::move(action), .thread = "", .expected = std::nullopt, .line = 0});
}

// Guards, then the call.
OrError<bool> AppendCall(const Options& options, const KeyTable& keys, const scenario::Schema& schema,
                         Scenario& scenario) {
  std::vector<std::vector<std::string>> sets;
  for (const std::string& text : options.keys) {
    OrError<std::vector<std::string>> set = ReadKeys(text, keys);
    if (!set.ok()) return InputError{"--keys: " + set.error()};
    sets.push_back(std::move(*set));
  }
  const std::size_t tensors = static_cast<std::size_t>(std::count_if(
      schema.arguments.begin(), schema.arguments.end(), [](const auto& a) { return a.type.BringsKeys(); }));
  if (sets.size() > std::max<std::size_t>(tensors, 1)) {
    return InputError{fmt::format("--keys is given {}, and {} has {}", reports::Counted(sets.size(), "time"),
                                  options.target, reports::Counted(tensors, "tensor argument"))};
  }
  for (const bool include : {true, false}) {
    const std::optional<std::string>& text = include ? options.include : options.exclude;
    if (!text) continue;
    OrError<std::vector<std::string>> set = ReadKeys(*text, keys);
    if (!set.ok()) return InputError{fmt::format("--{}: {}", include ? "include" : "exclude", set.error())};
    // A name that no file can have, so that it meets none of a scenario's own.
    Append(scenario, scenario::GuardEnter{.include = include, .keys = *set, .name = include ? "_include" : "_exclude"});
  }
  Append(scenario, CallWith(options.target, schema, sets));
  return true;
}

// The schema that the steps give the operator, else one with a tensor for each --keys.
scenario::Schema SchemaIn(const Scenario& scenario, const Options& options) {
  for (const scenario::Step& step : scenario.steps) {
    const auto* define = std::get_if<scenario::Define>(&step.action);
    if (define == nullptr) continue;
    scenario::SchemaResult parsed = scenario::ParseSchema(define->schema);
    if (!parsed.schema) continue;
    const std::string name = parsed.schema->FullName();
    // One that is defined in a library may leave its namespace out.
    if (name == options.target || options.target.ends_with("::" + name)) return std::move(*parsed.schema);
  }
  std::string arguments;
  for (std::size_t i = 0; i < std::max<std::size_t>(options.keys.size(), 1); ++i) {
    arguments += fmt::format("{}Tensor a{}", i == 0 ? "" : ", ", i);
  }
  return *scenario::ParseSchema(fmt::format("ns::f({}) -> Tensor", arguments)).schema;
}

// Steps that suppose what --schema and --impl say.
OrError<bool> AppendSupposed(const Options& options, const KeyTable& keys, Scenario& scenario) {
  std::string schema = options.schema;
  if (schema.empty()) {
    scenario::Schema made = SchemaIn({}, options);
    const auto name = scenario::ParseOperatorName(options.target);
    made.name_space = name->name_space;
    made.name = name->name;
    made.overload = name->overload;
    schema = scenario::PrintSchema(made);
  }
  const scenario::SchemaResult parsed = scenario::ParseSchema(schema);
  if (!parsed.schema) return InputError{fmt::format("--schema: {}", parsed.error->message)};
  if (parsed.schema->FullName() != options.target) {
    return InputError{fmt::format("--schema is of {}, not of {}", parsed.schema->FullName(), options.target)};
  }
  Append(scenario, scenario::Define{.schema = schema, .library = "", .name = ""});
  for (const std::string& text : options.impls) {
    const std::size_t equals = text.find('=');
    const OrError<model::Key> key = ReadKey(text.substr(0, equals), keys);
    if (!key.ok()) return InputError{"--impl: " + key.error()};
    if (equals != std::string::npos && text.substr(equals + 1) != "fallthrough") {
      return InputError{fmt::format("--impl {}: after = only fallthrough may stand", text)};
    }
    const bool fallthrough = equals != std::string::npos;
    scenario::Impl impl{
        .operator_name = options.target, .key = keys.Name(*key), .kernel = {}, .library = "", .name = ""};
    impl.kernel.fallthrough = fallthrough;
    if (!fallthrough) impl.kernel.kernel = "k" + keys.Name(*key);
    Append(scenario, std::move(impl));
  }
  return true;
}

// The slot that the backend's own table has where the model says that the call ends.
int PrintOwnTable(const harness::BackendFacts& facts, const OperatorView& view, const Explanation& explanation,
                  const Painter& paint) {
  if (explanation.calls.empty() || explanation.calls.front().refused) return kGood;
  const model::CallExplanation& call = explanation.calls.front();
  std::string rule = "missing";
  for (const model::RuleTried& tried : call.rules) {
    if (tried.applies) rule = tried.rule;
  }
  const auto row = std::find_if(view.table.begin(), view.table.end(), [&](const auto& r) { return r.key == call.key; });
  const std::string own = row == view.table.end() ? "missing" : row->rule;
  const std::string place = row == view.table.end() || row->place.empty() ? "" : ", " + row->place;
  const bool same = own == rule;
  const std::string text = fmt::format("  {}'s own table at {}: {}{}{}", NameOf(facts), call.key, own, place,
                                       same ? "  (as the spec says)" : fmt::format("  (the spec says {})", rule));
  Print("{}\n", same ? paint.Green(text) : paint.Red(text));
  return same ? kGood : kFailed;
}

int ExplainRegistered(const CLI::App& app, const Options& options, Executor& executor, const Painter& paint) {
  const harness::BackendFacts& facts = executor.facts();
  const KeyTable keys(*model::FindRelease(facts.release), facts.keys);
  if (!facts.Claims(PL_CAPABILITY(INTROSPECTION))) {
    return Complain(app,
                    fmt::format("backend {} does not claim introspection, so it cannot say what is registered for {}\n"
                                "Leave --backend out and say with --impl what is; or give steps that register it with "
                                "--scenario.",
                                facts.name, options.target));
  }
  OrError<OperatorView> view = ViewOperator(executor, options.target);
  if (!view.ok()) return Complain(app, view.error());
  OrError<Registered> registered = AsScenario(options.target, *view, facts, keys);
  if (!registered.ok()) return Complain(app, registered.error());
  OrError<bool> called = AppendCall(options, keys, registered->schema, registered->scenario);
  if (!called.ok()) return Complain(app, called.error());

  model::Settings settings = harness::SettingsFor(facts);
  settings.own_fallbacks = registered->fallbacks;
  Print("{} in {} ({})\n", options.target, NameOf(facts), facts.release);
  if (!view->schema.empty()) Print("schema: {}\n", view->schema);
  for (const std::string& unsure : registered->unsure) Print("{}\n", paint.Yellow("note: " + unsure));
  Print("\n");

  const std::vector<Explanation> explanations = model::Explain(registered->scenario, settings);
  if (explanations.empty()) return Complain(app, "the model cannot hold what is registered");
  std::set<std::string> cited;
  PrintExplanation(explanations.back(), model::Bodies::kUnknown, paint);
  Cite(explanations.back(), cited);
  const int status = PrintOwnTable(facts, *view, explanations.back(), paint);
  PrintClauses(cited);
  Print("\nregistered\n");
  const std::vector<std::string> lines =
      view->registrations.empty() ? view->direct : FoldRegistrations(view->registrations);
  for (const std::string& line : lines) Print("  {}\n", line);
  if (lines.empty()) Print("  nothing\n");
  return status;
}

// Without a backend nothing is known of an operator; what is explained instead must be plain.
void PrintSupposed(const Options& options, const Scenario& scenario) {
  const auto& define = std::get<scenario::Define>(scenario.steps.front().action);
  Print("No backend was asked (--backend), so this is {} by the rules of {}, supposing\n", options.target,
        scenario.release);
  Print("  its schema{}: {}\n", options.schema.empty() ? " (--schema)" : "", define.schema);
  Print("  its kernels{}: {}\n\n", options.impls.empty() ? " (--impl)" : "",
        options.impls.empty() ? "none" : fmt::format("{}", fmt::join(options.impls, ", ")));
}

int Main(int argc, char** argv) {
  CLI::App app(
      "Answers \"why did my kernel (not) run?\": for each call of a scenario, or for a call of an operator with given "
      "keys,\n"
      "which keys the arguments bring, what the thread and the fallthrough keys take away, which rule of the spec "
      "chose\n"
      "the kernel and why no other did; and for each kernel that did not run, the usual cause that holds.",
      "plumbline explain");
  Options options;
  AddTo(app, options);
  if (auto status = ParseCommandLine(app, argc, argv)) return *status;
  const Painter paint(Colours(STDOUT_FILENO, options.no_color));
  if (options.backend.backend.empty()) {
    if (auto status = RefuseIdle(app, {"--load", "--fault", "--timeout"}, "without --backend")) return *status;
  }
  if (!options.scenario.empty()) {
    if (auto status =
            RefuseIdle(app, {"--impl", "--schema"}, "beside --scenario, whose steps say what is registered")) {
      return *status;
    }
  }

  std::unique_ptr<Executor> executor;
  if (!options.backend.backend.empty()) {
    OrError<harness::ExecutorConfig> config = options.backend.Config();
    if (!config.ok()) return Complain(app, config.error());
    OrError<std::unique_ptr<Executor>> started = StartBackend(app, *config);
    if (!started.ok()) return Complain(app, started.error());
    executor = std::move(*started);
    executor->CopyOutputTo(STDERR_FILENO);
  }

  const bool is_operator =
      scenario::ParseOperatorName(options.target).has_value() && options.target.find("::") != std::string::npos;
  if (!is_operator) {
    if (!options.keys.empty() || !options.impls.empty() || !options.schema.empty() || !options.scenario.empty() ||
        options.include || options.exclude) {
      return Complain(app,
                      "--keys, --include, --exclude, --impl, --schema and --scenario go with an operator "
                      "(ns::name), not with a scenario file");
    }
    OrError<Scenario> scenario = ReadScenarioFile(options.target, "a scenario file (.scn) or an operator (ns::name)");
    if (!scenario.ok()) return Complain(app, scenario.error());
    if (!options.backend.release.empty()) scenario->release = options.backend.release;
    OrError<bool> good = CheckHead(options.target, *scenario,
                                   executor ? executor->facts().keys : std::vector<scenario::KeyDeclaration>());
    if (!good.ok()) return Complain(app, good.error());
    Question question{.file = harness::NameOfFile(options.target),
                      .backend = options.backend.backend,
                      .scenario = std::move(*scenario),
                      .settings = {},
                      .first_step = 0,
                      .line = options.line};
    if (executor) question.settings = harness::SettingsFor(executor->facts());
    return ExplainQuestion(app, question, executor.get(), paint);
  }

  if (options.line != 0) {
    return Complain(app,
                    "--line picks a call of a scenario file, and with an operator the call is the one of --keys; leave "
                    "--line out");
  }
  if (options.keys.empty()) {
    return Complain(app,
                    "say with --keys which keys the tensors carry, such as --keys CPU,AutogradCPU; `plumbline keys` "
                    "lists them");
  }
  if (executor && options.scenario.empty()) {
    if (!options.impls.empty() || !options.schema.empty()) {
      return Complain(app, "--impl and --schema suppose what a backend would tell: leave them or --backend out");
    }
    return ExplainRegistered(app, options, *executor, paint);
  }

  Question question;
  if (!options.scenario.empty()) {
    OrError<Scenario> scenario = ReadScenarioFile(options.scenario);
    if (!scenario.ok()) return Complain(app, scenario.error());
    question.scenario = std::move(*scenario);
    if (!options.backend.release.empty()) question.scenario.release = options.backend.release;
    OrError<bool> good = CheckHead(options.scenario, question.scenario,
                                   executor ? executor->facts().keys : std::vector<scenario::KeyDeclaration>());
    if (!good.ok()) return Complain(app, good.error());
  } else {
    question.scenario.release = options.backend.release.empty() ? "pytorch-1.13" : options.backend.release;
  }
  OrError<const tables::ReleaseData*> release = ReadRelease(question.scenario.release);
  if (!release.ok()) return Complain(app, release.error());
  std::vector<scenario::KeyDeclaration> declared;
  if (executor) {
    question.settings = harness::SettingsFor(executor->facts());
    declared = executor->facts().keys;
  }
  declared.insert(declared.end(), question.scenario.declared_keys.begin(), question.scenario.declared_keys.end());
  const KeyTable keys(**release, declared);
  if (options.scenario.empty()) {
    OrError<bool> supposed = AppendSupposed(options, keys, question.scenario);
    if (!supposed.ok()) return Complain(app, supposed.error());
  }
  OrError<bool> called = AppendCall(options, keys, SchemaIn(question.scenario, options), question.scenario);
  if (!called.ok()) return Complain(app, called.error());
  if (options.scenario.empty()) {
    question.bodies = model::Bodies::kUnknown;
    PrintSupposed(options, question.scenario);
  }
  question.first_step = question.scenario.steps.size() - 1;
  return ExplainQuestion(app, question, executor.get(), paint);
}

}  // namespace
}  // namespace plumbline::cli

int main(int argc, char** argv) { return plumbline::harness::RunMain(&plumbline::cli::Main, argc, argv); }
