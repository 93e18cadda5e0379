// Schema text, read by the spec's parser and by the reference's, which share no code.
//
// Property: both accept the text or both refuse it; what the reference says that the schema is, read by the spec's
// parser, is what that parser read in the first place; and a printed schema reads back equal and prints alike.
#include "fuzz/input/linked_backend.h"
#include "fuzz/targets/property.h"
#include "spec/abi/host.h"
#include "spec/scenario/schema.h"

namespace plumbline::fuzz {
namespace {

using abi::Borrow;
using abi::PlError;

// One registry for all inputs: each leaves it as it was.
pl_registry* Registry() {
  static pl_registry* const registry = [] {
    pl_open_options options{};
    options.struct_size = sizeof options;
    options.mode = PL_OPEN_FRESH;
    pl_registry* made = nullptr;
    Require(!PlError(LinkedBackend().open(&options, &made)), "the backend opens no registry");
    return made;
  }();
  return registry;
}

void CheckRoundTrip(const scenario::Schema& schema) {
  const std::string printed = scenario::PrintSchema(schema);
  const scenario::SchemaResult again = scenario::ParseSchema(printed);
  Require(again.schema.has_value(), "a printed schema does not parse", printed,
          again.error ? again.error->message : "");
  Require(*again.schema == schema, "a printed schema reads back as another", printed);
  Require(scenario::PrintSchema(*again.schema) == printed, "a schema prints in two ways", printed);
}

void CheckAgainstBackend(std::string_view text, const scenario::SchemaResult& parsed) {
  const pl_adapter& backend = LinkedBackend();
  pl_registration* definition = nullptr;
  const PlError refused(backend.define(Registry(), nullptr, Borrow(text), Borrow("fuzz"), &definition));
  // Outside of a library only a name with a namespace is whole.
  const bool expected = parsed.schema && !parsed.schema->name_space.empty();
  Require(!refused == expected,
          expected ? "only the reference refuses a schema" : "only the reference accepts a schema", text,
          refused        ? refused.message()
          : parsed.error ? std::string_view(parsed.error->message)
                         : "no namespace");
  if (refused) return;
  std::string told;
  const pl_string_sink sink{
      &told, [](void* context, pl_string line) { *static_cast<std::string*>(context) = abi::View(line); }};
  Require(!PlError(backend.schema_of(Registry(), Borrow(parsed.schema->FullName()), sink)),
          "what was defined has no schema", text);
  const scenario::SchemaResult again = scenario::ParseSchema(told);
  Require(again.schema == parsed.schema, "the reference tells another schema than it was given", text, told);
  Require(!PlError(backend.release(definition)), "a definition cannot be released", text);
}

}  // namespace
}  // namespace plumbline::fuzz

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace plumbline;
  const std::string_view text = fuzz::Text(data, size);
  const scenario::SchemaResult parsed = scenario::ParseSchema(text);
  fuzz::Require(parsed.schema.has_value() != parsed.error.has_value(), "neither a schema nor an error, or both", text);
  if (parsed.error) {
    fuzz::Require(parsed.error->column >= 1 && parsed.error->column <= static_cast<int>(size) + 1,
                  "the error's column is not in the text", text, parsed.error->message);
  } else {
    fuzz::CheckRoundTrip(*parsed.schema);
  }
  fuzz::CheckAgainstBackend(text, parsed);
  return 0;
}
