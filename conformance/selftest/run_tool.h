// Runs the programs of this build as a user does, for the tests of what they print and how they leave.
//
//   Folder data;                                        // a corpus and a clause index of the test's own
//   data.Write("corpus/demo/A-001-good.scn", kGood);
//   const Ran ran = RunTool("check --backend " + Misbehaving() + " --jobs 1", {{"PLUMBLINE_DATA", data.path()}});
//   EXPECT_EQ(ran.status, 0) << ran.out << ran.err;
//
// For tests only; one thread.
#ifndef PLUMBLINE_CONFORMANCE_SELFTEST_RUN_TOOL_H_
#define PLUMBLINE_CONFORMANCE_SELFTEST_RUN_TOOL_H_

#include <map>
#include <string>

namespace plumbline::selftest {

struct Ran {
  int status = -1;  // exit status; 128 + N for signal N
  std::string out, err;
};

// `arguments` go through a shell, after the path of `plumbline`.
Ran RunTool(const std::string& arguments, const std::map<std::string, std::string>& environment = {});

// Any command line, as a user pastes it: `plumbline` is this build's.
Ran RunLine(const std::string& line, const std::map<std::string, std::string>& environment = {});

std::string BuildFolder();
std::string Backend(const std::string& name);  // the shared object of one of ours
std::string Misbehaving();                     // the shared object of misbehaving.cc

// A folder that goes with its owner.
class Folder {
 public:
  Folder();
  ~Folder();
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  const std::string& path() const { return path_; }
  std::string Write(const std::string& name, const std::string& text) const;  // the whole path
  std::string Read(const std::string& name) const;

 private:
  std::string path_;
};

}  // namespace plumbline::selftest

#endif  // PLUMBLINE_CONFORMANCE_SELFTEST_RUN_TOOL_H_
