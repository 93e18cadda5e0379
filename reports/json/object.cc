#include "reports/json/object.h"

#include <algorithm>
#include <limits>
#include <stdexcept>

namespace plumbline::reports {
namespace {

using Json = nlohmann::json;

[[noreturn]] void Wrong(const std::string& path, const char* wanted) {
  throw std::invalid_argument((path.empty() ? "it" : "'" + path + "'") + " should be " + wanted);
}

std::uint64_t CountOf(const Json& json, const std::string& path) {
  if (!json.is_number_unsigned()) Wrong(path, "a whole number of at least 0");
  return json.get<std::uint64_t>();
}

double NumberOf(const Json& json, const std::string& path) {
  if (!json.is_number()) Wrong(path, "a number");
  return json.get<double>();
}

}  // namespace

Json ParseJson(std::string_view text) {
  try {
    return Json::parse(text);
  } catch (const Json::parse_error& error) {
    // The byte counts from 1 and is the last that was read.
    const std::string_view before = text.substr(0, error.byte == 0 ? 0 : error.byte - 1);
    throw std::invalid_argument("it is not JSON from line " +
                                std::to_string(1 + std::count(before.begin(), before.end(), '\n')) + " on");
  } catch (const Json::out_of_range&) {
    throw std::invalid_argument("a number in it is larger than any that belongs there");
  }
}

JsonObject::JsonObject(const Json& json, std::string path) : json_(json), path_(std::move(path)) {
  if (!json.is_object()) Wrong(path_, "an object");
}

const Json& JsonObject::At(const char* name) const {
  const auto found = json_.find(name);
  if (found == json_.end()) throw std::invalid_argument("'" + PathOf(name) + "' is missing");
  return *found;
}

std::string JsonObject::Text(const char* name) const {
  const Json& json = At(name);
  if (!json.is_string()) Wrong(PathOf(name), "a text");
  return json.get<std::string>();
}

std::vector<std::string> JsonObject::Texts(const char* name) const {
  std::vector<std::string> texts;
  for (const auto& [item, path] : Items(name)) {
    if (!item.is_string()) Wrong(path, "a text");
    texts.push_back(item.get<std::string>());
  }
  return texts;
}

bool JsonObject::Flag(const char* name) const {
  const Json& json = At(name);
  if (!json.is_boolean()) Wrong(PathOf(name), "true or false");
  return json.get<bool>();
}

std::uint64_t JsonObject::Count(const char* name) const { return CountOf(At(name), PathOf(name)); }

std::uint64_t JsonObject::Count(const char* name, std::uint64_t otherwise) const {
  return json_.contains(name) ? Count(name) : otherwise;
}

int JsonObject::Int(const char* name) const {
  const std::uint64_t count = Count(name);
  if (count > static_cast<std::uint64_t>(std::numeric_limits<int>::max())) Wrong(PathOf(name), "a smaller number");
  return static_cast<int>(count);
}

std::map<std::string, std::uint64_t> JsonObject::Counts(const char* name) const {
  const Json& json = At(name);
  if (!json.is_object()) Wrong(PathOf(name), "an object");
  std::map<std::string, std::uint64_t> counts;
  for (const auto& [key, count] : json.items()) counts[key] = CountOf(count, PathOf(name) + "." + key);
  return counts;
}

double JsonObject::Number(const char* name) const { return NumberOf(At(name), PathOf(name)); }

std::map<std::string, double> JsonObject::Numbers(const char* name) const {
  const Json& json = At(name);
  if (!json.is_object()) Wrong(PathOf(name), "an object");
  std::map<std::string, double> numbers;
  for (const auto& [key, number] : json.items()) numbers[key] = NumberOf(number, PathOf(name) + "." + key);
  return numbers;
}

Verdict JsonObject::ReadVerdict(const char* name) const {
  const std::string spelling = Text(name);
  for (const Verdict verdict : kVerdicts) {
    if (spelling == Spelling(verdict)) return verdict;
  }
  throw std::invalid_argument("'" + PathOf(name) + "' is '" + spelling + "', which is no verdict");
}

JsonObject JsonObject::In(const char* name) const { return JsonObject(At(name), PathOf(name)); }

std::vector<JsonObject> JsonObject::Objects(const char* name) const {
  std::vector<JsonObject> objects;
  for (const auto& [item, path] : Items(name)) objects.emplace_back(item, path);
  return objects;
}

std::vector<std::pair<const Json&, std::string>> JsonObject::Items(const char* name) const {
  const Json& json = At(name);
  if (!json.is_array()) Wrong(PathOf(name), "a list");
  std::vector<std::pair<const Json&, std::string>> items;
  for (std::size_t i = 0; i < json.size(); ++i) {
    items.emplace_back(json[i], PathOf(name) + "[" + std::to_string(i) + "]");
  }
  return items;
}

std::string JsonObject::PathOf(const char* name) const { return path_.empty() ? name : path_ + "." + name; }

}  // namespace plumbline::reports
