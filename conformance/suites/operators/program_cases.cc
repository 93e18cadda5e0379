#include "conformance/suites/operators/program_cases.h"

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <utility>

#include "conformance/harness/case_runner.h"
#include "conformance/harness/text_file.h"
#include "conformance/suites/operators/judge_program.h"
#include "spec/abi/error.h"

namespace plumbline::suites {
namespace {

namespace fs = std::filesystem;
using harness::Case;
using harness::CaseContext;
using harness::OrError;
using reports::Verdict;

OrError<TensorProgram> ReadProgram(const fs::path& path) {
  const OrError<std::string> text = harness::ReadTextFile(path.string(), "a tensor program (.prog)");
  if (!text.ok()) return harness::InputError{text.error()};
  OrError<TensorProgram> program = ParseTensorProgram(*text);
  if (!program.ok()) return harness::InputError{fmt::format("{}:{}", path.string(), program.error())};
  return program;
}

// What a backend has to claim for a program to have something to show.
std::uint64_t NeedsOf(const TensorProgram& program) {
  std::uint64_t needs = kWithOperators;
  for (const Statement& statement : program.statements) {
    switch (statement.kind) {
      case Statement::Kind::kMemory:
      case Statement::Kind::kHolders:
      case Statement::Kind::kResetPeak:
      case Statement::Kind::kEmptyCache:
        needs |= PL_CAPABILITY(MEMORY);
        break;
      case Statement::Kind::kToDlpack:
      case Statement::Kind::kFromDlpack:
      case Statement::Kind::kCapsule:
        needs |= PL_CAPABILITY(DLPACK);
        break;
      default:
        break;
    }
  }
  return needs;
}

std::vector<std::pair<int, std::string>> NotesOn(const TensorProgram& program, const ProgramTrace& trace) {
  std::vector<std::pair<int, std::string>> notes;
  for (std::size_t i = 0; i < trace.moments.size(); ++i) {
    const Statement& statement = program.statements[i];
    const Moment& moment = trace.moments[i];
    if (statement.kind == Statement::Kind::kCall && !statement.error_class && moment.error_class != PL_ERROR_NONE) {
      notes.emplace_back(statement.line,
                         fmt::format("this call is refused, as the operator's clauses say, and the program does not "
                                     "expect it: {}: {}",
                                     abi::ErrorClassSpelling(moment.error_class), moment.message));
    }
    if (statement.kind == Statement::Kind::kExpect && (statement.looks.elements || statement.looks.bits)) {
      const auto state = moment.states.find(statement.names[0]);
      if (state != moment.states.end() && state->second.layout.device == kMeta) {
        notes.emplace_back(statement.line, "the elements are not looked at: a meta tensor has none");
      }
    }
  }
  return notes;
}

void RunProgram(CaseContext& ctx, const fs::path& path, const std::string& device) {
  const OrError<TensorProgram> program = ReadProgram(path);
  if (!program.ok()) return ctx.Broken(program.error());
  OperatorBackend backend(ctx.executor(), device);
  if (!backend.broken().empty()) return ctx.Broken(backend.broken());
  if (program->needs_elements && device == kMeta) return ctx.Unsupported("elements, which meta has not");
  const ProgramVerdict tried = TryProgram(backend, *program);
  if (tried.verdict == Verdict::kUnsupported) return ctx.Unsupported(tried.got);
  ctx.Tried(1);
  if (tried.verdict == Verdict::kPass) return;
  reports::Finding finding;
  finding.summary = fmt::format("`{}`: {}", tried.statement, program->title);
  finding.scenario = PrintTensorProgram(*program);
  finding.expected = tried.expected;
  finding.got = tried.got;
  finding.rerun = ReplayLine(ctx, finding.scenario, device);
  ctx.Fail(std::move(finding), tried.verdict);
}

}  // namespace

ProgramVerdict TryProgram(OperatorBackend& backend, const TensorProgram& program) {
  const OperatorBackend::Traced traced = backend.Ask(program);
  std::size_t at = 0;
  ProgramVerdict verdict;
  if (traced.died) {
    at = static_cast<std::size_t>(std::max(0, traced.died->step));
    verdict = {traced.died->verdict, 0, "", "it is done", traced.died->what, {}};
  } else if (const std::optional<ProgramFault> fault = JudgeProgram(program, traced.trace)) {
    at = fault->statement;
    verdict = {fault->unsupported ? Verdict::kUnsupported : Verdict::kFail, 0, "", fault->expected, fault->got, {}};
  } else {
    verdict.notes = NotesOn(program, traced.trace);
    return verdict;
  }
  const Statement& statement = program.statements[std::min(at, program.statements.size() - 1)];
  verdict.line = statement.line;
  verdict.statement = PrintStatement(program, statement);
  return verdict;
}

std::string ReplayLine(CaseContext& ctx, const std::string& program, const std::string& device) {
  const std::string path = ctx.SaveAs(".prog", program);
  if (path.empty()) return "";
  return fmt::format("plumbline replay{}{} {}", ctx.BackendArguments(),
                     device.empty() ? "" : " --device " + harness::ShellWord(device), harness::ShellPath(path));
}

std::vector<Case> ProgramCases(const std::string& folder, const std::string& device) {
  std::error_code failed;
  std::vector<Case> cases;
  for (fs::recursive_directory_iterator at(folder, failed), end; !failed && at != end; at.increment(failed)) {
    if (at->path().extension() != ".prog") continue;
    const fs::path path = at->path();
    const fs::path relative = fs::relative(path, folder, failed);
    const OrError<TensorProgram> program = ReadProgram(path);  // what is wrong with it is said when the case is run
    cases.push_back({.id = fs::path(relative).replace_extension().generic_string(),
                     .chapter = relative.begin()->string(),
                     .clauses = program.ok() ? program->clauses : std::vector<std::string>(),
                     .needs = program.ok() ? NeedsOf(*program) : kWithOperators,
                     .where = path.string(),
                     .run = [path, device](CaseContext& ctx) { RunProgram(ctx, path, device); }});
  }
  std::sort(cases.begin(), cases.end(), [](const Case& a, const Case& b) { return a.id < b.id; });
  return cases;
}

}  // namespace plumbline::suites
