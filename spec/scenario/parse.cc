#include "spec/scenario/parse.h"

#include <bit>
#include <charconv>
#include <cmath>
#include <limits>
#include <set>
#include <utility>

#include "spec/scenario/lex.h"
#include "spec/scenario/limits.h"

namespace plumbline::scenario {
namespace {

using Kind = Token::Kind;

constexpr std::string_view kHeadVerbs[] = {"scenario", "title", "clauses", "open", "declare", "kernel"};
constexpr std::string_view kVerbs[] = {"chain", "library", "close", "define", "impl",  "fallback", "listen", "release",
                                       "drain", "find",    "call",  "guard",  "leave", "flush",    "query"};

template <std::size_t N>
bool Among(const std::string_view (&words)[N], std::string_view word) {
  for (std::string_view known : words) {
    if (known == word) return true;
  }
  return false;
}

std::string Join(const std::vector<std::string>& words) {
  std::string text;
  for (const auto& word : words) text += (text.empty() ? "" : ", ") + word;
  return text;
}

bool IsBlank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

std::string_view Trimmed(std::string_view text) {
  while (!text.empty() && IsBlank(text.front())) text.remove_prefix(1);
  while (!text.empty() && IsBlank(text.back())) text.remove_suffix(1);
  return text;
}

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text), lexer_(text, 0) {}

  Scenario ParseAll() {
    std::string_view first = Trimmed(text_.substr(0, LineEnd(0)));
    if (first.substr(0, first.find_first_of(" \t")) != "scenario") {
      throw ParseFailure{0, "expected 'scenario VERSION RELEASE' on the first line"};
    }
    ParseLines();
    return std::move(scenario_);
  }

  Scenario ParseSteps(std::string_view release) {
    scenario_.release = release;
    ParseLines();
    return std::move(scenario_);
  }

 private:
  // ---- limits ----

  // One more value or key of the step or kernel, at the token that comes.
  void CountValue() {
    if (++values_ <= kMaxValues) return;
    throw ParseFailure{Peek().offset, "a step or a kernel's body holds at most " + std::to_string(kMaxValues) +
                                          " values and keys; items of lists count"};
  }

  // ---- lines ----

  std::size_t LineEnd(std::size_t at) const {
    std::size_t end = text_.find('\n', at);
    return end == std::string_view::npos ? text_.size() : end;
  }

  void ParseLines() {
    std::size_t at = 0;
    while (at < text_.size()) {
      std::size_t end = LineEnd(at);
      std::string_view line = Trimmed(text_.substr(at, end - at));
      if (line.empty() || line[0] == '#') {
        pending_.emplace_back(line);
        at = end == text_.size() ? end : end + 1;
        continue;
      }
      Restart(at);
      values_ = 0;
      ParseLine();
      EndOfLine();
      at = lexer_.offset();
    }
    while (!pending_.empty() && pending_.back().empty()) pending_.pop_back();
    PlaceComments(static_cast<int>(scenario_.steps.size()));
  }

  void ParseLine() {
    const Token& verb = Peek();
    if (verb.kind != Kind::kWord) Expected("a verb");
    if (!Among(kHeadVerbs, verb.text)) {
      if (scenario_.steps.size() == kMaxSteps) {
        throw ParseFailure{verb.offset, "a scenario has at most " + std::to_string(kMaxSteps) +
                                            " steps; put this one and those after it into another file"};
      }
      PlaceComments(static_cast<int>(scenario_.steps.size()));
      scenario_.steps.push_back(ParseStep());
      return;
    }
    if (!scenario_.steps.empty()) {
      throw ParseFailure{verb.offset, "'" + verb.text + "' belongs to the head, before the first step"};
    }
    PlaceComments(-1);
    ParseHeadLine();
  }

  // The blank line that separates head and steps is the printer's, not a comment; the head keeps no blank lines.
  void PlaceComments(int index) {
    if (index == 0 && !pending_.empty() && pending_.front().empty()) pending_.erase(pending_.begin());
    if (index == -1) std::erase(pending_, std::string());
    if (pending_.empty()) return;
    auto [place, is_new] = scenario_.comments.try_emplace(index);
    for (std::size_t i = 0; i < pending_.size(); ++i) {
      if (!is_new || i > 0) place->second += '\n';
      place->second += pending_[i];
    }
    pending_.clear();
  }

  // ---- tokens ----

  void Restart(std::size_t at) {
    lexer_.MoveTo(at);
    lexer_.SetBraces(0);
    has_token_ = false;
  }

  const Token& Peek() {
    if (!has_token_) {
      token_ = lexer_.Next();
      has_token_ = true;
    }
    return token_;
  }

  Token Take() {
    Peek();
    has_token_ = false;
    if (token_.kind == Kind::kMark && token_.text == "{") lexer_.SetBraces(lexer_.braces() + 1);
    if (token_.kind == Kind::kMark && token_.text == "}") lexer_.SetBraces(lexer_.braces() - 1);
    return token_;
  }

  [[noreturn]] void Expected(const std::string& what) {
    const Token& token = Peek();
    std::string found;
    switch (token.kind) {
      case Kind::kWord:
      case Kind::kMark:
        found = "'" + token.text + "'";
        break;
      case Kind::kString:
        found = "the string " + Quoted(token.text);
        break;
      case Kind::kLineEnd:
        found = "the end of the line";
        break;
      case Kind::kEnd:
        found = "the end of the text";
        break;
    }
    throw ParseFailure{token.offset, "expected " + what + ", found " + found};
  }

  bool AtWord(std::string_view word) { return Peek().kind == Kind::kWord && Peek().text == word; }
  bool AtMark(std::string_view mark) { return Peek().kind == Kind::kMark && Peek().text == mark; }
  bool AtEnd() { return Peek().kind == Kind::kLineEnd || Peek().kind == Kind::kEnd; }

  bool TakeWord(std::string_view word) {
    if (!AtWord(word)) return false;
    Take();
    return true;
  }
  bool TakeMark(std::string_view mark) {
    if (!AtMark(mark)) return false;
    Take();
    return true;
  }
  void NeedWord(const char* word) {
    if (!TakeWord(word)) Expected("'" + std::string(word) + "'");
  }
  void NeedMark(const char* mark) {
    if (!TakeMark(mark)) Expected("'" + std::string(mark) + "'");
  }

  void EndOfLine() {
    if (!AtEnd()) Expected("the end of the line");
    Take();
  }

  // A name that the scenario gives: of a handle, kernel, library, thread.
  std::string Name(const char* what) {
    if (Peek().kind != Kind::kWord || !IsName(Peek().text)) Expected(what);
    return Take().text;
  }

  // An operator, key or namespace: a word, or any text as a string.
  bool AtText() { return Peek().kind == Kind::kString || (Peek().kind == Kind::kWord && IsPlainWord(Peek().text)); }
  std::string Text(const char* what) {
    if (!AtText()) Expected(what);
    return Take().text;
  }
  std::string Key() { return Text("a key"); }
  std::string Operator() { return Text("an operator"); }

  std::vector<std::string> Keys() {
    if (!AtMark("[")) Expected("a list of keys, '[KEY ...]'");
    Take();
    std::vector<std::string> keys;
    while (!TakeMark("]")) {
      if (!AtText()) Expected("a key or ']'");
      CountValue();
      keys.push_back(Take().text);
    }
    return keys;
  }

  std::string OneOf(const std::vector<std::string>& known, const char* what) {
    for (const auto& word : known) {
      if (TakeWord(word)) return word;
    }
    Expected(std::string(what) + " (" + Join(known) + ")");
  }

  std::string Signature() { return OneOf(Signatures(), "a signature of the catalogue"); }

  template <class Integer>
  Integer Number(const char* what) {
    Integer value{};
    const Token& token = Peek();
    const char* end = token.text.data() + token.text.size();
    if (token.kind == Kind::kWord) {
      auto [stop, error] = std::from_chars(token.text.data(), end, value);
      if (error == std::errc() && stop == end) {
        Take();
        return value;
      }
      if (error == std::errc::result_out_of_range && stop == end) {
        throw ParseFailure{token.offset, "'" + token.text + "' does not fit"};
      }
    }
    Expected(what);
  }

  // ---- values ----

  static bool LooksLikeNumber(std::string_view word) {
    if (!word.empty() && word[0] == '-') word.remove_prefix(1);
    if (word == "inf" || word == "nan" || word.substr(0, 4) == "nan:") return true;
    return !word.empty() && ((word[0] >= '0' && word[0] <= '9') || (word[0] == '.' && word.size() > 1));
  }

  bool AtValue() {
    const Token& token = Peek();
    if (token.kind == Kind::kString) return true;
    if (token.kind == Kind::kMark) return token.text == "[" || token.text == "{";
    if (token.kind != Kind::kWord) return false;
    return token.text == "none" || token.text == "undefined" || token.text == "true" || token.text == "false" ||
           LooksLikeNumber(token.text);
  }

  Value ParseValue() {
    if (!AtValue()) Expected("a value ([KEY ...], undefined, none, a number, true, false, a string or {VALUE ...})");
    CountValue();
    if (AtMark("[")) return Value::Tensor(Keys());
    if (AtMark("{")) return ParseList();
    if (Peek().kind == Kind::kString) return Value::String(Take().text);
    if (TakeWord("none")) return Value::None();
    if (TakeWord("undefined")) return Value::Undefined();
    if (TakeWord("true")) return Value::Bool(true);
    if (TakeWord("false")) return Value::Bool(false);
    return ParseNumber();
  }

  Value ParseList() {
    Token open = Take();
    if (++depth_ > kMaxListDepth) {
      throw ParseFailure{open.offset, "lists nest at most " + std::to_string(kMaxListDepth) + " deep"};
    }
    std::vector<Value> items;
    while (!TakeMark("}")) {
      if (!AtValue()) Expected("a value or '}'");
      items.push_back(ParseValue());
    }
    --depth_;
    return Value::List(std::move(items));
  }

  Value ParseNumber() {
    const std::string& word = Peek().text;
    if (word == "inf" || word == "-inf" || word == "nan") {
      double value = word == "nan"   ? std::numeric_limits<double>::quiet_NaN()
                     : word == "inf" ? std::numeric_limits<double>::infinity()
                                     : -std::numeric_limits<double>::infinity();
      Take();
      return Value::Float(value);
    }
    if (word.substr(0, 4) == "nan:") {
      std::uint64_t bits = 0;
      const char* end = word.data() + word.size();
      auto [stop, error] = std::from_chars(word.data() + 4, end, bits, 16);
      if (error != std::errc() || stop != end || !std::isnan(std::bit_cast<double>(bits))) {
        Expected("the 64 bits of a NaN in hexadecimal after 'nan:'");
      }
      Take();
      return Value::Float(std::bit_cast<double>(bits));
    }
    if (word.find_first_of(".eE") == std::string::npos) return Value::Int(Number<std::int64_t>("an integer"));
    return Value::Float(Number<double>("a number"));
  }

  std::vector<Value> ParseValues() {
    std::vector<Value> values;
    while (AtValue()) values.push_back(ParseValue());
    return values;
  }

  int ArgumentIndex() {
    int index = Number<int>("the position of an argument");
    if (index < 0) throw ParseFailure{token_.offset, "positions of arguments start at 0"};
    return index;
  }

  // ---- head ----

  void ParseHeadLine() {
    Token verb = Take();
    if (verb.text == "scenario") {
      if (has_version_ || !scenario_.release.empty())
        throw ParseFailure{verb.offset, "'scenario' is the first line only"};
      has_version_ = true;
      std::size_t at = Peek().offset;
      scenario_.version = Number<int>("the version of the language, a number");
      if (scenario_.version != 1) {
        throw ParseFailure{at,
                           "version " + std::to_string(scenario_.version) + " of the language is not known here; 1 is",
                           scenario_.version > 1};
      }
      scenario_.release = Text("a release, such as pytorch-1.13");
    } else if (verb.text == "title") {
      if (!scenario_.title.empty()) throw ParseFailure{verb.offset, "there is a title already"};
      std::size_t end = LineEnd(verb.end);
      scenario_.title = Trimmed(text_.substr(verb.end, end - verb.end));
      if (scenario_.title.empty()) Expected("the title");
      Restart(end);
    } else if (verb.text == "clauses") {
      do {
        scenario_.clauses.push_back(Text("the id of a clause"));
      } while (!AtEnd());
    } else if (verb.text == "open") {
      if (scenario_.open != OpenMode::kAny) throw ParseFailure{verb.offset, "it is said already how to open"};
      scenario_.open = OneOf({"fresh", "process"}, "a registry") == "fresh" ? OpenMode::kFresh : OpenMode::kProcess;
    } else if (verb.text == "declare") {
      ParseDeclaration();
    } else {
      ParseKernel();
    }
  }

  void ParseDeclaration() {
    KeyDeclaration declared;
    declared.line = LineOf(Peek().offset);
    std::string kind = OneOf({"component", "backend", "mode"}, "a kind of key");
    declared.kind = kind == "component" ? KeyDeclaration::Kind::kComponent
                    : kind == "backend" ? KeyDeclaration::Kind::kBackend
                                        : KeyDeclaration::Kind::kMode;
    declared.name = Key();
    NeedWord("after");
    declared.after = Text("the component or functionality just below");
    if (declared.kind != KeyDeclaration::Kind::kMode) {
      NeedWord("autograd");
      declared.autograd = Text("'own' or an autograd key");
    }
    scenario_.declared_keys.push_back(std::move(declared));
  }

  void ParseKernel() {
    KernelDefinition kernel;
    std::size_t at = Peek().offset;
    kernel.name = Name("the name of a kernel");
    if (!kernel_names_.insert(kernel.name).second) {
      throw ParseFailure{at, "there is a kernel '" + kernel.name + "' already"};
    }
    NeedMark("{");
    while (!TakeMark("}")) {
      if (TakeMark(";")) continue;
      if (kernel.body.size() == kMaxBodyItems) {
        throw ParseFailure{Peek().offset, "a kernel's body has at most " + std::to_string(kMaxBodyItems) + " items"};
      }
      kernel.body.push_back(ParseItem());
      if (!AtMark(";") && !AtMark("}")) Expected("';' or '}'");
    }
    scenario_.kernels.push_back(std::move(kernel));
  }

  CallForm TakeForm() { return TakeWord("typed") ? CallForm::kTyped : CallForm::kBoxed; }

  BodyItem ParseItem() {
    static const char* kItems =
        "an item of a kernel's body (guard, redispatch, call, try call, throw, return, define, impl, fallback, "
        "release)";
    if (Peek().kind != Kind::kWord) Expected(kItems);
    if (TakeWord("guard")) {
      BodyGuard guard;
      guard.include = OneOf({"include", "exclude"}, "a side") == "include";
      guard.keys = Keys();
      return guard;
    }
    if (TakeWord("redispatch")) {
      BodyRedispatch redispatch;
      redispatch.form = TakeForm();
      if (TakeWord("below")) {
        redispatch.below = Key();
      } else if (TakeWord("to")) {
        redispatch.keys = Keys();
      } else {
        Expected("'below KEY' or 'to [KEYS]'");
      }
      return redispatch;
    }
    if (AtWord("call") || AtWord("try")) {
      BodyCall call;
      call.caught = TakeWord("try");
      NeedWord("call");
      call.form = TakeForm();
      if (call.form == CallForm::kTyped) call.signature = Signature();
      call.operator_name = Operator();
      if (TakeMark("(")) {
        call.arguments = ParseValues();
        if (!TakeMark(")")) Expected("a value or ')'");
      }
      return call;
    }
    if (TakeWord("throw")) {
      if (Peek().kind != Kind::kString) Expected("the message, a string");
      return BodyThrow{Take().text};
    }
    if (TakeWord("return")) return ParseReturn();
    for (std::string_view verb : {"define", "impl", "fallback", "release"}) {
      if (!AtWord(verb)) continue;
      Step step;
      step.line = LineOf(Peek().offset);
      step.action = ParseAction();
      BodyStep body;
      body.step.push_back(std::move(step));
      return body;
    }
    if (!Among(kVerbs, Peek().text)) {
      Token token = Peek();
      throw ParseFailure{token.offset, std::string("expected ") + kItems + ", found '" + token.text + "'", true};
    }
    Expected(kItems);
  }

  BodyReturn ParseReturn() {
    BodyReturn result;
    while (!AtMark(";") && !AtMark("}")) {
      if (TakeWord("arg")) {
        result.values.emplace_back(BodyReturn::Argument{ArgumentIndex()});
      } else if (TakeWord("inner")) {
        result.values.emplace_back(BodyReturn::Inner{});
      } else {
        if (!AtValue()) Expected("a value, 'arg N', 'inner', ';' or '}'");
        result.values.emplace_back(ParseValue());
      }
    }
    return result;
  }

  // ---- steps ----

  std::string Thread() {
    const std::size_t at = Peek().offset;
    std::string name = Name("the name of a thread");
    if (threads_.insert(name).second && threads_.size() > kMaxThreads) {
      throw ParseFailure{at, "a scenario has at most " + std::to_string(kMaxThreads) + " threads, and '" + name +
                                 "' is one more; let this step run on one of those above"};
    }
    return name;
  }

  Step ParseStep() {
    Step step;
    step.line = LineOf(Peek().offset);
    if (TakeWord("on")) step.thread = Thread();
    if (Peek().kind != Kind::kWord) Expected("a verb");
    if (!Among(kVerbs, Peek().text)) {
      Token token = Peek();
      std::string verbs;
      for (const std::string_view verb : kVerbs) verbs.append(verbs.empty() ? "" : ", ").append(verb);
      throw ParseFailure{token.offset, "unknown verb '" + token.text + "'; a step begins with one of " + verbs, true};
    }
    step.action = ParseAction();
    if (TakeWord("=>")) {
      step.expected = ParseExpectation();
    } else if (!AtEnd()) {
      Expected("'=>' or the end of the line");
    }
    return step;
  }

  std::string OptionalName(const char* keyword, const char* what) {
    return TakeWord(keyword) ? Name(what) : std::string();
  }

  std::string OptionalHandle() { return OptionalName("as", "a name"); }
  std::string OptionalLibrary() { return OptionalName("in", "the name of a library"); }

  Action ParseAction() {
    std::string verb = Take().text;
    if (verb == "chain") {
      Chain chain;
      chain.key = Key();
      NeedWord("served");
      NeedWord("by");
      chain.served_by = Key();
      chain.name = OptionalHandle();
      return chain;
    }
    if (verb == "library") {
      LibraryOpen library;
      library.name = Name("the name of a library");
      std::string kind = OneOf({"def", "fragment", "impl"}, "a kind of library");
      library.kind = kind == "def"        ? LibraryKind::kDef
                     : kind == "fragment" ? LibraryKind::kFragment
                                          : LibraryKind::kImpl;
      library.name_space = Text("a namespace");
      if (AtText()) library.key = Key();
      return library;
    }
    if (verb == "close") return LibraryClose{Name("the name of a library")};
    if (verb == "define") return ParseDefine();
    if (verb == "impl") {
      Impl impl;
      impl.operator_name = Operator();
      ParseKeyAndUse(impl.key, impl.kernel);
      impl.library = OptionalLibrary();
      impl.name = OptionalHandle();
      return impl;
    }
    if (verb == "fallback") {
      Fallback fallback;
      ParseKeyAndUse(fallback.key, fallback.kernel);
      fallback.library = OptionalLibrary();
      fallback.name = OptionalHandle();
      return fallback;
    }
    if (verb == "listen") {
      NeedWord("as");
      return Listen{Name("a name")};
    }
    if (verb == "release") return Release{Name("the name of a registration")};
    if (verb == "drain") return Drain{};
    if (verb == "find") {
      Find find;
      find.operator_name = Operator();
      NeedWord("as");
      find.name = Name("a name");
      return find;
    }
    if (verb == "call") return ParseCall();
    if (verb == "guard") {
      GuardEnter guard;
      guard.include = OneOf({"include", "exclude"}, "a side") == "include";
      guard.keys = Keys();
      NeedWord("as");
      guard.name = Name("a name");
      return guard;
    }
    if (verb == "leave") return GuardLeave{Name("the name of a guard")};
    if (verb == "flush") return Flush{};
    return ParseQuery();
  }

  Define ParseDefine() {
    Define define;
    if (Peek().kind == Kind::kString) {
      define.schema = Take().text;
    } else {
      std::size_t start = Peek().offset;
      std::size_t end = SchemaEnd(text_, start);
      if (end == start) Expected("a schema");
      define.schema = text_.substr(start, end - start);
      lexer_.MoveTo(end);
      has_token_ = false;
    }
    define.library = OptionalLibrary();
    define.name = OptionalHandle();
    return define;
  }

  // [KEY] fallthrough | [KEY] KERNEL [typed SIGNATURE]
  void ParseKeyAndUse(std::optional<std::string>& key, KernelUse& use) {
    if (TakeWord("fallthrough")) {
      use.fallthrough = true;
      return;
    }
    if (!AtText()) Expected("a key, a kernel or 'fallthrough'");
    Token first = Take();
    if (TakeWord("fallthrough")) {
      key = first.text;
      use.fallthrough = true;
      return;
    }
    if (AtText()) {
      key = first.text;
      use.kernel = Name("the name of a kernel");
    } else {
      if (first.kind != Kind::kWord || !IsName(first.text)) Expected("the name of a kernel or 'fallthrough'");
      use.kernel = first.text;
    }
    if (TakeWord("typed")) use.signature = Signature();
  }

  Call ParseCall() {
    Call call;
    call.form = TakeForm();
    if (call.form == CallForm::kTyped) call.signature = Signature();
    const Token& token = Peek();
    if (token.kind == Kind::kWord && token.text[0] == '@') {
      call.handle = token.text.substr(1);
      if (!IsName(call.handle)) Expected("the name of a handle after '@'");
      Take();
    } else {
      call.operator_name = Text("an operator or @HANDLE");
    }
    call.arguments = ParseValues();
    if (!AtWord("=>") && !AtEnd()) {
      Expected(
          "an argument ([KEY ...], undefined, none, a number, true, false, a string, {VALUE ...}), '=>' or the end "
          "of the line");
    }
    return call;
  }

  Query ParseQuery() {
    Query query;
    std::string kind = OneOf({"has-kernel", "computed", "has-fallback", "operators", "dangling", "at-key", "schema",
                              "table", "counters", "destroyed", "heard"},
                             "a question");
    if (kind == "has-kernel" || kind == "computed") {
      query.kind = kind == "computed" ? QueryKind::kHasComputed : QueryKind::kHasKernel;
      query.subject = Operator();
      query.key = Key();
    } else if (kind == "has-fallback" || kind == "at-key") {
      query.kind = kind == "at-key" ? QueryKind::kOperatorsAtKey : QueryKind::kHasFallback;
      query.key = Key();
    } else if (kind == "operators") {
      query.kind = QueryKind::kOperators;
    } else if (kind == "dangling") {
      query.kind = QueryKind::kDangling;
    } else if (kind == "schema" || kind == "table" || kind == "counters") {
      query.kind = kind == "schema" ? QueryKind::kSchema : kind == "table" ? QueryKind::kTable : QueryKind::kCounters;
      query.subject = Operator();
    } else if (kind == "destroyed") {
      query.kind = QueryKind::kDestroyed;
      query.subject = Name("the name of a kernel");
    } else {
      query.kind = QueryKind::kHeard;
      query.subject = Name("the name of a listener");
    }
    return query;
  }

  // ---- outcomes ----

  Expectation ParseExpectation() {
    Expectation expected;
    if (AtMark("{")) {
      expected.table = ParseTable();
    } else if (AtWord("true") || AtWord("false")) {
      expected.truth = Take().text == "true";
    } else if (TakeWord("names")) {
      expected.names.emplace();
      while (AtText()) expected.names->push_back(Take().text);
    } else if (TakeWord("heard")) {
      expected.names = ParseHeard();
    } else if (TakeWord("schema")) {
      if (Peek().kind != Kind::kString) Expected("the schema, a string");
      expected.names = {Take().text};
    } else if (TakeWord("hits")) {
      CacheCounters counters;
      counters.hits = Number<std::uint64_t>("a count");
      NeedWord("misses");
      counters.misses = Number<std::uint64_t>("a count");
      NeedWord("invalidations");
      counters.invalidations = Number<std::uint64_t>("a count");
      expected.counters = counters;
    } else if (TakeWord("count")) {
      expected.count = Number<std::int64_t>("a count");
    } else {
      ParseCourse(expected);
    }
    return expected;
  }

  // [ok [warned|unwarned]] [KERNEL > ...] [with KEYS] [sees ARG ...] [returns VALUE ...] [[>] error CLASS [says TEXT]]
  void ParseCourse(Expectation& expected) {
    bool any = false;
    if (TakeWord("ok")) {
      expected.ok = any = true;
      if (TakeWord("warned")) {
        expected.warned = true;
      } else if (TakeWord("unwarned")) {
        expected.warned = false;
      }
    }
    bool arrow = false;
    if (AtKernel()) {
      expected.chain.emplace();
      do {
        if (arrow && AtWord("error")) break;
        if (!AtKernel()) Expected("a kernel or 'error'");
        expected.chain->push_back(Take().text);
        arrow = TakeWord(">");
      } while (arrow);
      any = true;
    }
    if (!arrow) any |= ParseLastKernel(expected);
    if (!arrow && any) arrow = TakeWord(">");
    if (arrow && !AtWord("error")) Expected("'error'");
    if (!expected.ok && TakeWord("error")) {
      expected.error = ParseErrorClass();
      if (TakeWord("says")) {
        if (Peek().kind != Kind::kString) Expected("a string");
        expected.says = Take().text;
      }
      any = true;
    }
    if (!any) {
      Expected("an outcome (ok, error CLASS, kernels, true, false, names, heard, schema, hits, count or a table)");
    }
    if (!AtEnd()) Expected(expected.error ? "the end of the line" : "more of the outcome or the end of the line");
  }

  bool AtKernel() { return Peek().kind == Kind::kWord && IsName(Peek().text); }

  bool ParseLastKernel(Expectation& expected) {
    bool any = false;
    if (TakeWord("with")) {
      expected.with = Keys();
      any = true;
    }
    if (TakeWord("sees")) {
      expected.sees = ParseValues();
      any = true;
    }
    if (TakeWord("returns")) {
      expected.returns.emplace();
      while (true) {
        if (TakeWord("arg")) {
          expected.returns->push_back(Value::ArgumentOf(ArgumentIndex()));
        } else if (AtValue()) {
          expected.returns->push_back(ParseValue());
        } else {
          break;
        }
      }
      any = true;
    }
    return any;
  }

  std::string ParseErrorClass() {
    if (TakeWord("any")) return "any";
    return OneOf(ErrorClasses(), "'any' or an error class");
  }

  std::vector<std::string> ParseHeard() {
    std::vector<std::string> heard;
    while (!AtEnd()) {
      const Token& token = Peek();
      if (token.kind != Kind::kWord && token.kind != Kind::kString) Expected("+OPERATOR or -OPERATOR");
      if (token.text.size() < 2 || (token.text[0] != '+' && token.text[0] != '-')) Expected("+OPERATOR or -OPERATOR");
      heard.push_back(Take().text);
    }
    return heard;
  }

  // { RULE [NAME] [fallthrough]: KEY ...; ... }
  std::vector<TableRow> ParseTable() {
    std::vector<TableRow> rows;
    NeedMark("{");
    while (!TakeMark("}")) {
      if (TakeMark(";")) continue;
      TableRow row = ParseWinner();
      do {
        row.key = Key();
        rows.push_back(row);
      } while (AtText());
      if (!AtMark(";") && !AtMark("}")) Expected("a key, ';' or '}'");
    }
    return rows;
  }

  TableRow ParseWinner() {
    TableRow row;
    bool colon = false;
    // Takes the next word if it is accepted without the colon that may end it.
    auto take = [&](auto accepts) -> std::string {
      if (colon || Peek().kind != Kind::kWord) return "";
      std::string text = Peek().text;
      bool ends = text.size() > 1 && text.back() == ':';
      if (ends) text.pop_back();
      if (!accepts(text)) return "";
      Take();
      colon = ends;
      return text;
    };
    row.rule = take([](const std::string& text) { return IsRule(text); });
    if (row.rule.empty()) Expected("a rule (" + Join(Rules()) + ")");
    row.registration = take([](const std::string& text) { return text == "builtin" || IsName(text); });
    row.fallthrough = !take([](const std::string& text) { return text == "fallthrough"; }).empty();
    if (!colon && !TakeWord(":")) {
      Expected(row.fallthrough             ? "':'"
               : !row.registration.empty() ? "'fallthrough' or ':'"
                                           : "the name of the winner, 'fallthrough' or ':'");
    }
    return row;
  }

  // Offsets come in the order of the text, so that all of them together are counted once.
  int LineOf(std::size_t offset) {
    for (; counted_ < offset; ++counted_) line_ += text_[counted_] == '\n';
    return line_;
  }

  std::string_view text_;
  Lexer lexer_;
  Token token_;
  bool has_token_ = false;
  int depth_ = 0;   // of the list that is being read
  int values_ = 0;  // and keys, of the step or kernel that is being read
  int line_ = 1;    // of the character `counted_`
  std::size_t counted_ = 0;
  std::set<std::string> kernel_names_, threads_;
  bool has_version_ = false;
  std::vector<std::string> pending_;  // comment lines whose place is not known yet
  Scenario scenario_;
};

ParseError ErrorAt(std::string_view text, const ParseFailure& failure) {
  ParseError error;
  error.line = error.column = 1;
  for (std::size_t i = 0; i < failure.offset && i < text.size(); ++i) {
    if (text[i] == '\n') {
      ++error.line;
      error.column = 1;
    } else if ((static_cast<unsigned char>(text[i]) & 0xc0) != 0x80) {
      ++error.column;
    }
  }
  error.message = failure.message;
  error.unsupported = failure.unsupported;
  return error;
}

void CheckSize(std::string_view text) {
  if (text.size() <= kMaxTextBytes) return;
  throw ParseFailure{kMaxTextBytes,
                     "a scenario has at most " + std::to_string(kMaxTextBytes) + " bytes, and the text goes on here"};
}

template <class Read>
ParseResult Result(std::string_view text, const Read& read) {
  ParseResult result;
  try {
    result.scenario = read();
  } catch (const ParseFailure& failure) {
    result.error = ErrorAt(text, failure);
  }
  return result;
}

}  // namespace

ParseResult Parse(std::string_view text) {
  return Result(text, [&] {
    CheckSize(text);
    return Parser(text).ParseAll();
  });
}

ParseResult ParsePrinted(std::string_view text) {
  return Result(text, [&] { return Parser(text).ParseAll(); });
}

ParseResult ParseFragment(std::string_view text, std::string_view release) {
  return Result(text, [&] {
    CheckSize(text);
    return Parser(text).ParseSteps(release);
  });
}

}  // namespace plumbline::scenario
