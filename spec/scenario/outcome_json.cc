#include "spec/scenario/outcome_json.h"

#include <algorithm>
#include <bit>
#include <nlohmann/json.hpp>
#include <stdexcept>

namespace plumbline::scenario {
namespace {

using Json = nlohmann::json;

// JSON strings are Unicode. Plain ASCII is written as it is, anything else as {"bytes": [...]}.
Json WriteText(const std::string& text) {
  bool plain = std::all_of(text.begin(), text.end(), [](char c) { return c >= 0 && c < 0x7f; });
  if (plain) return text;
  Json bytes = Json::array();
  for (char c : text) bytes.push_back(static_cast<unsigned char>(c));
  return Json{{"bytes", bytes}};
}

std::string ReadText(const Json& json) {
  if (json.is_string()) return json.get<std::string>();
  std::string text;
  for (const Json& byte : json.at("bytes")) text += static_cast<char>(byte.get<unsigned char>());
  return text;
}

Json WriteTexts(const std::vector<std::string>& texts) {
  Json json = Json::array();
  for (const auto& text : texts) json.push_back(WriteText(text));
  return json;
}

std::vector<std::string> ReadTexts(const Json& json) {
  if (!json.is_array()) throw std::invalid_argument("expected a list of strings");
  std::vector<std::string> texts;
  for (const Json& text : json) texts.push_back(ReadText(text));
  return texts;
}

Json WriteValues(const std::vector<Value>& values);

// Every field, used by the kind or not, so that equality survives; a double as its bits, for NaN and infinity.
Json WriteValue(const Value& value) {
  Json json{{"kind", static_cast<int>(value.kind)}};
  if (!value.keys.empty()) json["keys"] = WriteTexts(value.keys);
  if (value.integer != 0) json["integer"] = value.integer;
  if (auto bits = std::bit_cast<std::uint64_t>(value.real); bits != 0) json["real"] = bits;
  if (value.boolean) json["boolean"] = true;
  if (!value.text.empty()) json["text"] = WriteText(value.text);
  if (!value.items.empty()) json["items"] = WriteValues(value.items);
  if (value.argument != -1) json["argument"] = value.argument;
  return json;
}

Json WriteValues(const std::vector<Value>& values) {
  Json json = Json::array();
  for (const Value& value : values) json.push_back(WriteValue(value));
  return json;
}

std::vector<Value> ReadValues(const Json& json);

Value ReadValue(const Json& json) {
  Value value;
  int kind = json.at("kind").get<int>();
  if (kind < 0 || kind > static_cast<int>(Value::Kind::kList)) throw std::invalid_argument("unknown kind of value");
  value.kind = static_cast<Value::Kind>(kind);
  if (json.contains("keys")) value.keys = ReadTexts(json["keys"]);
  value.integer = json.value("integer", std::int64_t{0});
  value.real = std::bit_cast<double>(json.value("real", std::uint64_t{0}));
  value.boolean = json.value("boolean", false);
  if (json.contains("text")) value.text = ReadText(json["text"]);
  if (json.contains("items")) value.items = ReadValues(json["items"]);
  value.argument = json.value("argument", -1);
  return value;
}

std::vector<Value> ReadValues(const Json& json) {
  if (!json.is_array()) throw std::invalid_argument("expected a list of values");
  std::vector<Value> values;
  for (const Json& value : json) values.push_back(ReadValue(value));
  return values;
}

Json WriteRun(const KernelRun& run) {
  return Json{{"kernel", WriteText(run.kernel)},
              {"operator", WriteText(run.operator_name)},
              {"keys", WriteTexts(run.keys)},
              {"arguments", WriteValues(run.arguments)},
              {"depth", run.depth}};
}

KernelRun ReadRun(const Json& json) {
  return {.kernel = ReadText(json.at("kernel")),
          .operator_name = ReadText(json.at("operator")),
          .keys = ReadTexts(json.at("keys")),
          .arguments = ReadValues(json.at("arguments")),
          .depth = json.at("depth").get<int>()};
}

Json WriteRow(const TableRow& row) {
  return Json{{"key", WriteText(row.key)},
              {"rule", WriteText(row.rule)},
              {"fallthrough", row.fallthrough},
              {"registration", WriteText(row.registration)}};
}

TableRow ReadRow(const Json& json) {
  return {.key = ReadText(json.at("key")),
          .rule = ReadText(json.at("rule")),
          .fallthrough = json.at("fallthrough").get<bool>(),
          .registration = ReadText(json.at("registration"))};
}

Outcome ReadJson(const Json& json) {
  Outcome outcome;
  outcome.error = ReadText(json.at("error"));
  outcome.message = ReadText(json.at("message"));
  for (const Json& run : json.at("runs")) outcome.runs.push_back(ReadRun(run));
  outcome.returns = ReadValues(json.at("returns"));
  outcome.warned = json.at("warned").get<bool>();
  if (json.contains("truth")) outcome.truth = json["truth"].get<bool>();
  if (json.contains("names")) outcome.names = ReadTexts(json["names"]);
  if (json.contains("table")) {
    outcome.table.emplace();
    for (const Json& row : json["table"]) outcome.table->push_back(ReadRow(row));
  }
  if (json.contains("counters")) {
    const Json& counters = json["counters"];
    outcome.counters =
        CacheCounters{counters.at("hits").get<std::uint64_t>(), counters.at("misses").get<std::uint64_t>(),
                      counters.at("invalidations").get<std::uint64_t>()};
  }
  if (json.contains("count")) outcome.count = json["count"].get<std::int64_t>();
  return outcome;
}

}  // namespace

std::string WriteOutcome(const Outcome& outcome) {
  Json json{{"error", WriteText(outcome.error)},
            {"message", WriteText(outcome.message)},
            {"runs", Json::array()},
            {"returns", WriteValues(outcome.returns)},
            {"warned", outcome.warned}};
  for (const KernelRun& run : outcome.runs) json["runs"].push_back(WriteRun(run));
  if (outcome.truth) json["truth"] = *outcome.truth;
  if (outcome.names) json["names"] = WriteTexts(*outcome.names);
  if (outcome.table) {
    json["table"] = Json::array();
    for (const TableRow& row : *outcome.table) json["table"].push_back(WriteRow(row));
  }
  if (outcome.counters) {
    json["counters"] = {{"hits", outcome.counters->hits},
                        {"misses", outcome.counters->misses},
                        {"invalidations", outcome.counters->invalidations}};
  }
  if (outcome.count) json["count"] = *outcome.count;
  return json.dump();
}

Outcome ReadOutcome(std::string_view text) {
  try {
    return ReadJson(Json::parse(text));
  } catch (const Json::exception& error) {
    throw std::invalid_argument(std::string("not an outcome: ") + error.what());
  }
}

}  // namespace plumbline::scenario
