// JSON files of Plumbline's own, read with words for what is wrong: what is missing or of another kind is named by its
// path, such as "cases[3].verdict".
//
//   try {
//     const nlohmann::json json = ParseJson(text);
//     const JsonObject report(json, "");
//     for (const JsonObject& one : report.Objects("cases")) ids.push_back(one.Text("id"));
//   } catch (const std::invalid_argument& wrong) {
//     error = wrong.what();   // "it is not JSON from line 3 on", "'cases[3].id' should be a text"
//   }
//
// An object borrows the JSON that it is made of. Immutable; any thread.
#ifndef PLUMBLINE_REPORTS_JSON_OBJECT_H_
#define PLUMBLINE_REPORTS_JSON_OBJECT_H_

#include <array>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "reports/result/result.h"

namespace plumbline::reports {

inline constexpr std::array kVerdicts = {Verdict::kPass,    Verdict::kFail,         Verdict::kCrash,
                                         Verdict::kTimeout, Verdict::kUnsupported,  Verdict::kWaived,
                                         Verdict::kVacuous, Verdict::kInconclusive, Verdict::kHarnessError};

// Throws std::invalid_argument, as all that follows.
nlohmann::json ParseJson(std::string_view text);

class JsonObject {
 public:
  JsonObject(const nlohmann::json& json, std::string path);

  std::string Text(const char* name) const;
  std::vector<std::string> Texts(const char* name) const;
  bool Flag(const char* name) const;
  std::uint64_t Count(const char* name) const;
  std::uint64_t Count(const char* name, std::uint64_t otherwise) const;  // where it may be missing
  int Int(const char* name) const;                                       // of at least 0
  std::map<std::string, std::uint64_t> Counts(const char* name) const;
  double Number(const char* name) const;
  std::map<std::string, double> Numbers(const char* name) const;
  Verdict ReadVerdict(const char* name) const;
  JsonObject In(const char* name) const;
  std::vector<JsonObject> Objects(const char* name) const;

 private:
  const nlohmann::json& At(const char* name) const;
  std::vector<std::pair<const nlohmann::json&, std::string>> Items(const char* name) const;
  std::string PathOf(const char* name) const;

  const nlohmann::json& json_;
  std::string path_;
};

}  // namespace plumbline::reports

#endif  // PLUMBLINE_REPORTS_JSON_OBJECT_H_
