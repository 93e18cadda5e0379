#include "conformance/race/concurrent_run.h"

#include <exception>
#include <set>
#include <thread>
#include <utility>

#include "conformance/race/concurrent_runner.h"

namespace plumbline::race {
namespace {

using Kind = LifetimeFault::Kind;

}  // namespace

thread_local ThreadNotes* notes = nullptr;

// ---- the whole ----

void Runner::OnThread(ThreadNotes& mine, const std::vector<std::size_t>& steps) {
  const HostCode host;
  notes = &mine;
  try {
    for (std::uint32_t i = 0; i < steps.size(); ++i) {
      if (options_.journal != nullptr) options_.journal->StepBegan(mine.place, i);
      DoStep(scenario_.steps[steps[i]]);
      if (options_.journal != nullptr) options_.journal->StepEnded(mine.place, i);
    }
    LeaveGuards(0);
  } catch (const std::exception& thrown) {
    Threw(thrown.what());
  } catch (...) {
    Threw("something that is no std::exception");
  }
  notes = nullptr;
}

void Runner::Threw(std::string what) {
  const std::lock_guard lock(lock_);
  threw_ = std::move(what);
}

void Runner::CleanUp() {
  if (options_.journal != nullptr) options_.journal->Releasing();
  for (auto made = made_.rbegin(); made != made_.rend(); ++made) {
    if (made->registration != nullptr) Take(adapter_.release(made->registration));
  }
  for (auto made = made_.rbegin(); made != made_.rend(); ++made) {
    if (made->library != nullptr) Take(adapter_.library_close(made->library));
  }
  for (const Made& made : made_) {
    if (made.op != nullptr) adapter_.operator_release(made.op);
  }
  prepared_.clear();  // with their tensors
  // All was released and nothing runs; where a context is left all the same, drain may wait for ever.
  if (Forgotten() && PLUMBLINE_RACE_HAS(drain)) Take(adapter_.drain(registry_));
  adapter_.close(registry_);
}

ConcurrentRun Runner::Run() {
  ConcurrentRun run;
  run.history.release = scenario_.release;
  run.history.title = scenario_.title;
  run.history.clauses = scenario_.clauses;
  if (options_.journal != nullptr) options_.journal->Clear();
  if (MaybeFailure failure = Open()) {
    run.refused = fmt::format("{} ({})", failure->message, failure->error_class);
    return run;
  }
  if (MaybeFailure failure = PrepareAll()) {
    run.refused = fmt::format("{} ({})", failure->message, failure->error_class);
    return run;
  }
  OnThread(threads_.emplace_back("main", JournalPage::kBefore), program_.before);
  std::vector<ThreadNotes*> mine;
  for (const Program::Thread& thread : program_.threads) {
    mine.push_back(&threads_.emplace_back(thread.name, JournalPage::OfThread(mine.size())));
    mine.back()->random = (options_.jitter + mine.size()) * 0x9E3779B97F4A7C15u | 1;
    mine.back()->events.reserve(thread.steps.size() * 4 + 16);
  }
  const auto one = [&](int thread) {
    OnThread(*mine[static_cast<std::size_t>(thread)], program_.threads[static_cast<std::size_t>(thread)].steps);
  };
  const int count = static_cast<int>(program_.threads.size());
  racing_ = true;
  if (options_.plan != nullptr) {
    const auto body = [](void* context, int thread) { (*static_cast<decltype(one)*>(context))(thread); };
    const race::Run done = Schedule(*options_.plan, count, body, const_cast<void*>(static_cast<const void*>(&one)));
    run.ending = done.ending;
    run.steps = done.steps;
    run.switches.assign(done.switches, done.switches + done.switch_count);
    run.switches_complete = done.switches_complete;
  } else {
    std::vector<std::thread> free;
    for (int i = 0; i < count; ++i) {
      free.emplace_back([&, i] {
        started_.fetch_add(1);
        while (started_.load() < count) sched_yield();
        one(i);
      });
    }
    for (std::thread& thread : free) thread.join();
  }
  racing_ = false;
  const bool finished = run.ending == Ending::kDone;
  if (finished) {
    OnThread(threads_.emplace_back("main", JournalPage::kAfter), program_.after);
    CleanUp();
  }
  over_ = true;
  for (const ThreadNotes& thread : threads_) {
    run.history.events.insert(run.history.events.end(), thread.events.begin(), thread.events.end());
  }
  run.threw = threw_;
  if (endless_) {
    run.refused =
        fmt::format("its kernels call each other without end: more than {} deep, or more than {} calls in a step",
                    scenario::kMaxKernelDepth, scenario::kMaxInnerCalls);
  }
  if (options_.plan != nullptr && finished) run.heap = CheckQuarantine();
  run.lifetime = lifetime_;
  for (const Context& context : contexts_) {
    if (finished && context.destroyed.load() == 0) {
      run.lifetime.push_back({Kind::kNeverDestroyed, context.registration});
    }
  }
  return run;
}

std::string Words(const LifetimeFault& fault) {
  switch (fault.kind) {
    case Kind::kRanAfterDestroyed:
      return fmt::format("a call ran the kernel of {} after its context had been destroyed", fault.registration);
    case Kind::kDestroyedWhileRunning:
      return fmt::format("the context of {} was destroyed while a call ran its kernel", fault.registration);
    case Kind::kDestroyedTwice:
      return fmt::format("the context of {} was destroyed twice", fault.registration);
    case Kind::kNotDrained:
      return fmt::format("drain returned, and the context of {}, which had been released before, was not destroyed",
                         fault.registration);
    case Kind::kNeverDestroyed:
      return fmt::format("the context of {} was never destroyed, though all was released", fault.registration);
  }
  return "";
}

ConcurrentRun RunProgram(const pl_adapter& adapter, const Program& program, const model::KeyTable& keys,
                         const RunOptions& options) {
  static int runs = 0;
  const std::string suffix = options.fresh ? "" : fmt::format("_pl{:06}r", ++runs);
  // What the backend still holds of a run may be called or destroyed later.
  static std::set<std::unique_ptr<Runner>> kept;
  auto runner = std::make_unique<Runner>(adapter, program, keys, options, suffix);
  ConcurrentRun done = runner->Run();
  if (!runner->Forgotten()) kept.insert(std::move(runner));
  return done;
}

}  // namespace plumbline::race
