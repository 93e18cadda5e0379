// Where the corpus, the clause index and the files of a new adapter are: PLUMBLINE_DATA, else ../share/plumbline beside
// the program, else the tree that the program was built from.
//
//   for (const fs::path& file : ScenarioFiles(CorpusFolder())) ...
//   OrError<std::vector<reports::Clause>> clauses = ReadClauseIndex();
//
// Pure but for the file system and the environment; any thread.
#ifndef PLUMBLINE_CONFORMANCE_HARNESS_DATA_FOLDER_H_
#define PLUMBLINE_CONFORMANCE_HARNESS_DATA_FOLDER_H_

#include <string>
#include <vector>

#include "conformance/harness/or_error.h"
#include "reports/result/result.h"

namespace plumbline::harness {

std::string CorpusFolder();
std::string ClauseIndexFile();
std::string NewAdapterFolder();  // of the files that `plumbline new-adapter` fills in

// A place of the clause index, "spec/model/call.cc:12" and whatever follows, with the path at which the file lies here:
// installed or in the tree, short where it is below the current folder. What lies nowhere is said to.
std::string OnThisMachine(const std::string& place);

// A planted fault of the backend broken.
struct IndexedFault {
  std::string name, clause, what, where;
};

// A clause with all that the index tells of it.
struct ClausePage {
  reports::Clause clause;
  std::vector<std::string> examples;               // scenarios, whole or in part
  std::string pytorch;                             // whether PyTorch agrees, and where it differs
  std::vector<std::string> scenarios, properties;  // that name it: places, those of properties with the id of the case
  std::vector<IndexedFault> faults;
};

// By id.
OrError<std::vector<ClausePage>> ReadClausePages();

// A clause of a chapter that is a draft: it binds nobody, and is in none of the lists here.
struct DraftClause {
  std::string id, title, where;  // "spec/clauses/drafts/12-operators.md:459"
};

// By id; none of an index that knows of no drafts.
OrError<std::vector<DraftClause>> ReadDraftClauses();

// The clauses alone, with the tests, model lines and faults that name them, by id.
OrError<std::vector<reports::Clause>> ReadClauseIndex();

// Who puts a clause to the test: `plumbline race`, where it has a scenario for threads at once; `plumbline check`,
// where it has another test. Some have both.
bool IsRaced(const reports::Clause& clause);
bool IsChecked(const reports::Clause& clause);
// Of those that are checked: by `--profile operators`, not by default.
bool IsOfOperators(const reports::Clause& clause);

}  // namespace plumbline::harness

#endif  // PLUMBLINE_CONFORMANCE_HARNESS_DATA_FOLDER_H_
