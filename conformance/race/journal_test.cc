#include "conformance/race/journal.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <string>

#include "spec/scenario/parse.h"

namespace plumbline::race {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

Program TheProgram() {
  const scenario::ParseResult parsed = scenario::Parse(
      "scenario 1 pytorch-1.13\n"
      "define demo::f(Tensor a) -> Tensor\n"
      "impl demo::f CPU k as r\n"
      "on a release r\n"
      "on a call demo::f [CPU]\n"
      "on b call demo::f [CPU]\n"
      "call demo::f [CUDA]\n");
  EXPECT_TRUE(parsed.scenario.has_value()) << parsed.error->message;
  harness::OrError<Program> program = MakeProgram(*parsed.scenario);
  EXPECT_TRUE(program.ok()) << program.error();
  return *std::move(program);
}

Event Release() {
  Event event;
  event.kind = Event::Kind::kRelease;
  event.thread = "a";
  event.start = 5;
  event.name = "r";
  return event;
}
Event Call() {
  Event event;
  event.kind = Event::Kind::kCall;
  event.thread = "b";
  event.start = 6;
  event.op = "demo::f";
  event.keys = {"CPU"};
  return event;
}

// Runs in a process that dies by SIGKILL.
template <typename Body>
void InAProcessThatDies(const Journal& journal, Body body) {
  const pid_t child = fork();
  if (child == 0) {
    JournalPage* page = OpenJournal(journal.path());
    if (page != nullptr) {
      page->Clear();
      body(*page);
    }
    kill(getpid(), SIGKILL);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFSIGNALED(status));
}

TEST(Journal, TellsWhatADeadProcessHadDone) {
  const Program program = TheProgram();
  const Journal journal;
  ASSERT_THAT(journal.path(), Not(IsEmpty()));
  InAProcessThatDies(journal, [](JournalPage& page) {
    for (std::uint32_t i = 0; i < 2; ++i) {
      page.StepBegan(JournalPage::kBefore, i);
      page.StepEnded(JournalPage::kBefore, i);
    }
    page.StepBegan(JournalPage::OfThread(0), 0);
    JournalEntry* const entry = page.Asked(Release());
    page.StepBegan(JournalPage::OfThread(1), 0);
    page.Asked(Call());
    Event released = Release();
    released.end = 7;
    JournalPage::Answered(entry, released);
    page.StepEnded(JournalPage::OfThread(0), 0);
    page.StepBegan(JournalPage::OfThread(0), 1);
  });
  EXPECT_EQ(journal.Steps(program),
            "its steps, and which of them had begun (`began`) and ended by then:\n"
            "  main   ended     line 2: define   demo::f(Tensor a) -> Tensor\n"
            "  main   ended     line 3: impl     demo::f CPU k as r\n"
            "  a      ended     line 4: release  r\n"
            "  a      began     line 5: call     demo::f [CPU]\n"
            "  b      began     line 6: call     demo::f [CPU]\n"
            "  main   -         line 7: call     demo::f [CUDA]");
  EXPECT_EQ(journal.History(program),
            "history 1 pytorch-1.13\n"
            "a  5..7  release r  => ok\n"
            "b  6..  call demo::f [CPU]\n");
}

TEST(Journal, ForgetsTheRunBefore) {
  const Program program = TheProgram();
  Journal journal;
  const auto one_run = [](JournalPage& page) {
    page.StepBegan(JournalPage::kAfter, 0);
    page.Asked(Call());
    page.Releasing();
  };
  InAProcessThatDies(journal, one_run);
  EXPECT_THAT(journal.Steps(program), HasSubstr("main   began     line 7"));
  InAProcessThatDies(journal, [](JournalPage&) {});
  EXPECT_THAT(journal.Steps(program), Not(HasSubstr("began   ")));
  EXPECT_THAT(journal.History(program), IsEmpty());
  InAProcessThatDies(journal, one_run);
  journal.Clear();
  EXPECT_THAT(journal.Steps(program), Not(HasSubstr("began   ")));
  EXPECT_THAT(journal.History(program), IsEmpty());
}

TEST(Journal, TellsThatAllStepsHadEnded) {
  const Program program = TheProgram();
  const Journal journal;
  for (const bool releasing : {false, true}) {
    InAProcessThatDies(journal, [releasing](JournalPage& page) {
      for (const std::size_t whose :
           {JournalPage::kBefore, JournalPage::OfThread(0), JournalPage::OfThread(1), JournalPage::kAfter}) {
        page.StepEnded(whose, 1);
      }
      if (releasing) page.Releasing();
    });
    EXPECT_THAT(journal.Steps(program), HasSubstr(releasing ? "all steps had ended, and what they had left was being "
                                                              "released:\n  main   ended"
                                                            : "all steps had ended:\n  main   ended"));
  }
}

TEST(Journal, CountsWhatHasNoRoom) {
  const Program program = TheProgram();
  const Journal journal;
  InAProcessThatDies(journal, [](JournalPage& page) {
    Event call = Call();
    JournalEntry* const first = page.Asked(call);
    call.end = 9;
    call.ran = std::string(600, 'r');
    JournalPage::Answered(first, call);
    call = Call();
    call.op = std::string(600, 'f');
    EXPECT_EQ(page.Asked(call), nullptr);
    JournalPage::Answered(nullptr, call);
    for (int i = 0; i < 1000; ++i) page.Asked(Call());
  });
  const std::string history = journal.History(program);
  EXPECT_THAT(history, HasSubstr("history 1 pytorch-1.13\n# 492 more had no room here\nb  6..  call"));
  EXPECT_EQ(std::count(history.begin(), history.end(), '\n'), 2 + 510);
  EXPECT_TRUE(IsHistory(history));
}

TEST(Journal, IsThatOfThePath) {
  const Program program = TheProgram();
  const Journal one, two;
  for (const Journal* journal : {&one, &two}) {
    JournalPage* const page = OpenJournal(journal->path());
    ASSERT_NE(page, nullptr);
    if (journal == &two) page->Asked(Release());
    if (journal == &one) page->Asked(Call());
    EXPECT_EQ(OpenJournal(journal->path()), page);
  }
  EXPECT_THAT(one.History(program), HasSubstr("call demo::f"));
  EXPECT_THAT(two.History(program), HasSubstr("release r"));
  for (const char* none : {"", "/proc/self/fd/none"}) {
    EXPECT_EQ(OpenJournal(none), nullptr);
    EXPECT_EQ(OpenJournal(none), nullptr) << "again";
  }
}

}  // namespace
}  // namespace plumbline::race
