#include "conformance/harness/registry_view.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string_view>

#include "spec/abi/host.h"

namespace plumbline::harness {
namespace {

using Json = nlohmann::json;

// What the backend answered with an error, or what came across the line instead of one.
struct Broken {
  std::string what;
};

constexpr const char* kRules[] = {"",          "kernel",   "nonfunctional", "explicit", "nested", "implicit",
                                  "ambiguous", "autograd", "batched",       "fallback", "chain"};

// The process-wide registry with the keys that both sides know.
class View {
 public:
  View(const pl_adapter& adapter, const model::KeyTable& keys, bool operators) : adapter_(adapter) {
    pl_open_options options{};
    options.struct_size = sizeof(options);
    options.mode = PL_OPEN_PROCESS;
    options.operators = operators ? 1 : 0;
    Check("open", adapter_.open(&options, &registry_));
    for (model::Key key = 0; key < keys.key_count(); ++key) {
      pl_key id = PL_NO_KEY;
      // A key that the backend does not know has nothing in it.
      if (abi::PlError(adapter_.intern_key(registry_, abi::Borrow(keys.Name(key)), &id))) continue;
      keys_.emplace_back(keys.Name(key), id);
      names_.emplace(id, keys.Name(key));
    }
  }
  ~View() {
    if (registry_ != nullptr) adapter_.close(registry_);
  }
  View(const View&) = delete;
  View& operator=(const View&) = delete;

  const std::vector<std::pair<std::string, pl_key>>& keys() const { return keys_; }

  std::vector<std::string> List(std::uint32_t which, pl_key key = PL_NO_KEY) const {
    std::vector<std::string> names;
    Check("list_operators", adapter_.list_operators(registry_, which, key, Into(names)));
    std::sort(names.begin(), names.end());
    return names;
  }

  std::string Schema(const std::string& name) const {
    std::vector<std::string> lines;
    // An operator that is only implemented has none.
    if (abi::PlError(adapter_.schema_of(registry_, abi::Borrow(name), Into(lines))) || lines.empty()) return "";
    return lines.front();
  }

  bool HasKernel(const std::string& name, pl_key key) const {
    std::uint32_t yes = 0;
    Check("has_kernel", adapter_.has_kernel(registry_, abi::Borrow(name), key, PL_QUERY_DIRECT, &yes));
    return yes != 0;
  }

  bool HasFallback(pl_key key) const {
    std::uint32_t yes = 0;
    // Alias keys have none, and a backend may refuse the question.
    return !abi::PlError(adapter_.has_fallback(registry_, key, &yes)) && yes != 0;
  }

  std::vector<std::string> Registrations(const std::string& name) const {
    std::vector<std::string> lines;
    if (PL_HAS(&adapter_, dump_registrations)) {
      Check("dump_registrations", adapter_.dump_registrations(registry_, abi::Borrow(name), Into(lines)));
    }
    return lines;
  }

  Json Table(const std::string& name) const {
    struct Rows {
      const View* self;
      std::map<pl_key, Json> by_key;
    } rows{this, {}};
    const pl_table_sink sink{&rows, [](void* context, const pl_table_row* row) {
                               auto* into = static_cast<Rows*>(context);
                               const auto at = into->self->names_.find(row->key);
                               const bool known = row->rule < std::size(kRules);
                               into->by_key[row->key] = {
                                   at != into->self->names_.end() ? at->second : "key " + std::to_string(row->key),
                                   known ? kRules[row->rule] : "rule " + std::to_string(row->rule),
                                   row->fallthrough != 0, std::string(abi::View(row->place))};
                             }};
    Check("dump_table", adapter_.dump_table(registry_, abi::Borrow(name), sink));
    Json ordered = Json::array();
    for (const auto& [key, id] : keys_) {
      if (const auto row = rows.by_key.find(id); row != rows.by_key.end()) {
        ordered.push_back(row->second);
        rows.by_key.erase(row);
      }
    }
    for (const auto& [id, row] : rows.by_key) ordered.push_back(row);
    return ordered;
  }

 private:
  static pl_string_sink Into(std::vector<std::string>& lines) {
    return {&lines, [](void* context, pl_string text) {
              static_cast<std::vector<std::string>*>(context)->emplace_back(abi::View(text));
            }};
  }
  static void Check(const char* entry, pl_error* error) {
    const abi::PlError owned(error);
    if (owned) {
      throw Broken{std::string(entry) + ": " + std::string(owned.message()) + " (" +
                   std::string(abi::ErrorClassSpelling(owned.error_class())) + ")"};
    }
  }

  const pl_adapter& adapter_;
  pl_registry* registry_ = nullptr;
  std::vector<std::pair<std::string, pl_key>> keys_;  // lowest first, alias keys last
  std::map<pl_key, std::string> names_;
};

std::string Told(const std::function<Json()>& tell) {
  Json told;
  try {
    told = tell();
  } catch (const Broken& broken) {
    told = {{"broken", broken.what}};
  } catch (const std::exception& error) {
    told = {{"broken", std::string("an exception came across the ABI: ") + error.what()}};
  } catch (...) {
    told = {{"broken", "an exception came across the ABI"}};
  }
  return told.dump(-1, ' ', false, Json::error_handler_t::replace);  // a backend's text may be no UTF-8
}

}  // namespace

std::string TellOperator(const pl_adapter& adapter, const model::KeyTable& keys, bool operators,
                         const std::string& name) {
  return Told([&] {
    const View view(adapter, keys, operators);
    const std::vector<std::string> all = view.List(PL_LIST_ALL);
    if (!std::binary_search(all.begin(), all.end(), name)) return Json{{"found", false}};
    Json direct = Json::array(), fallbacks = Json::array();
    for (const auto& [key, id] : view.keys()) {
      if (view.HasKernel(name, id)) direct.push_back(key);
      if (view.HasFallback(id)) fallbacks.push_back(key);
    }
    return Json{{"found", true},
                {"schema", view.Schema(name)},
                {"direct", direct},
                {"fallbacks", fallbacks},
                {"registrations", view.Registrations(name)},
                {"table", view.Table(name)}};
  });
}

std::string TellNames(const pl_adapter& adapter, const model::KeyTable& keys, bool operators) {
  return Told([&] {
    const View view(adapter, keys, operators);
    Json at = Json::object(), fallbacks = Json::array();
    for (const auto& [key, id] : view.keys()) {
      if (view.HasFallback(id)) fallbacks.push_back(key);
      if (auto names = view.List(PL_LIST_AT_KEY, id); !names.empty()) at[key] = std::move(names);
    }
    return Json{{"all", view.List(PL_LIST_ALL)},
                {"dangling", view.List(PL_LIST_DANGLING)},
                {"at", at},
                {"fallbacks", fallbacks}};
  });
}

std::string TellKeys(const pl_adapter& adapter, const model::KeyTable& keys) {
  return Told([&] {
    const View view(adapter, keys, false);
    Json names = Json::array();
    for (const auto& [key, id] : view.keys()) names.push_back(key);
    return Json{{"keys", names}};
  });
}

OrError<OperatorView> ReadOperator(const std::string& told) {
  const Json json = Json::parse(told);
  if (json.contains("broken")) return InputError{json.at("broken").get<std::string>()};
  OperatorView view;
  view.found = json.at("found");
  if (!view.found) return view;
  view.schema = json.at("schema");
  view.direct = json.at("direct").get<std::vector<std::string>>();
  view.fallbacks = json.at("fallbacks").get<std::vector<std::string>>();
  view.registrations = json.at("registrations").get<std::vector<std::string>>();
  for (const Json& row : json.at("table")) view.table.push_back({row[0], row[1], row[2], row[3]});
  return view;
}

OrError<OperatorNames> ReadNames(const std::string& told) {
  const Json json = Json::parse(told);
  if (json.contains("broken")) return InputError{json.at("broken").get<std::string>()};
  return OperatorNames{
      .all = json.at("all"), .dangling = json.at("dangling"), .at = json.at("at"), .fallbacks = json.at("fallbacks")};
}

OrError<std::vector<std::string>> ReadKnownKeys(const std::string& told) {
  const Json json = Json::parse(told);
  if (json.contains("broken")) return InputError{json.at("broken").get<std::string>()};
  return json.at("keys").get<std::vector<std::string>>();
}

}  // namespace plumbline::harness
