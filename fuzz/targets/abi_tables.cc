// Tables of backends that are wrong: sizes, versions, entries that are null, claims of everything, descriptions that
// say nonsense.
//
// Property: the harness's introduction of a backend reads no byte beyond what the table says that it has, accepts it or
// says what is wrong, calls nothing but `describe`, and does not claim for a backend what its table lacks.
#include <cstring>
#include <exception>
#include <memory>
#include <string>
#include <vector>

#include "conformance/harness/introduction.h"
#include "fuzz/input/byte_reader.h"
#include "fuzz/targets/property.h"
#include "spec/abi/host.h"

namespace plumbline::fuzz {
namespace {

// What `describe` answers; one input at a time.
struct Answer {
  pl_description description{};
  bool fails = false;
  std::vector<std::string> texts;  // borrowed by the description
  std::vector<pl_key_declaration> keys;
  std::vector<pl_builtin_fallback> fallbacks;
} answer;

pl_error* Describe(pl_description* out) {
  if (answer.fails) return abi::MakeError(PL_ERROR_INTERNAL, "no");
  const std::uint32_t size = out->struct_size;
  *out = answer.description;
  out->struct_size = size;
  return nullptr;
}

[[noreturn]] void Forbidden() { Broken("an entry other than describe was called"); }

// A text, an odd one, or one that is not where it should be.
pl_string TextFrom(ByteReader& bytes) {
  static constexpr std::string_view kUsual[] = {"pytorch-1.13", "pytorch-2.x",   "CPU", "Mine",
                                                "own",          "AutogradOther", "",    "AutogradMine"};
  const int how = bytes.Below(12);
  if (how < 8) return abi::Borrow(kUsual[how]);
  if (how == 8) return {nullptr, bytes.Byte()};
  answer.texts.push_back(std::string(bytes.Text()));
  return abi::Borrow(answer.texts.back());
}

void ReadAnswer(ByteReader& bytes) {
  answer = {};
  answer.texts.reserve(64);  // so that none moves
  answer.fails = bytes.OneIn(16);
  answer.description.own_starting_state = static_cast<std::uint32_t>(bytes.Below(3));
  answer.description.release = TextFrom(bytes);
  answer.description.name = TextFrom(bytes);
  answer.description.version = TextFrom(bytes);
  for (int count = bytes.Below(5); count > 0; --count) {
    answer.keys.push_back({.struct_size = sizeof(pl_key_declaration),
                           .kind = static_cast<std::uint32_t>(bytes.Below(5)),
                           .name = TextFrom(bytes),
                           .after = TextFrom(bytes),
                           .autograd = TextFrom(bytes)});
  }
  for (int count = bytes.Below(4); count > 0; --count) {
    answer.fallbacks.push_back({.struct_size = sizeof(pl_builtin_fallback),
                                .fallthrough = static_cast<std::uint32_t>(bytes.Below(3)),
                                .key = TextFrom(bytes)});
  }
  const int missing = bytes.Below(16);
  answer.description.keys = missing == 15 ? nullptr : answer.keys.data();
  answer.description.key_count = missing == 15 ? 3 : answer.keys.size();
  answer.description.fallbacks = missing == 14 ? nullptr : answer.fallbacks.data();
  answer.description.fallback_count = missing == 14 ? 2 : answer.fallbacks.size();
}

// A table of just as many bytes as it says that it has, as far as the fields that every host may read.
std::unique_ptr<std::uint8_t[]> TableFrom(ByteReader& bytes) {
  constexpr std::size_t kEntries = offsetof(pl_adapter, describe), kLargest = sizeof(pl_adapter) + 64;
  std::vector<std::uint8_t> image(kLargest);
  pl_adapter table{};
  std::uint32_t size = sizeof(pl_adapter);
  switch (bytes.Below(6)) {
    case 4:
      size = static_cast<std::uint32_t>(bytes.Number(2));
      break;
    case 5:
      size = static_cast<std::uint32_t>(kEntries + sizeof(void*) * static_cast<std::size_t>(bytes.Below(64)));
      break;
    default:
      break;
  }
  if (size > kLargest) size = kLargest;
  table.struct_size = size;
  table.abi_major = bytes.OneIn(8) ? bytes.Byte() : PL_ABI_MAJOR;
  table.abi_minor = static_cast<std::uint32_t>(bytes.OneIn(4) ? bytes.Byte() : PL_ABI_MINOR);
  table.reserved = bytes.OneIn(16) ? 1 : 0;
  table.extensions = bytes.OneIn(16) ? &table : nullptr;
  const int claims = bytes.Below(4);
  table.capabilities = claims == 0 ? ~std::uint64_t{0} : claims == 1 ? (std::uint64_t{1} << 20) - 1 : bytes.Number(8);
  std::memcpy(image.data(), &table, kEntries);
  // Entries that are there, a bit each.
  std::uint64_t there = bytes.OneIn(2) ? ~std::uint64_t{0} : bytes.Number(8);
  for (std::size_t at = kEntries; at + sizeof(void*) <= image.size();
       at += sizeof(void*), there = there << 1 | there >> 63) {
    void (*entry)() = (there & 1) != 0 ? reinterpret_cast<void (*)()>(&Forbidden) : nullptr;
    if (at == kEntries && entry != nullptr) entry = reinterpret_cast<void (*)()>(&Describe);
    std::memcpy(image.data() + at, &entry, sizeof entry);
  }
  const std::size_t most = size < sizeof(std::uint32_t) ? sizeof(std::uint32_t) : size;
  auto exact = std::make_unique<std::uint8_t[]>(most);
  std::memcpy(exact.get(), image.data(), most);
  return exact;
}

}  // namespace
}  // namespace plumbline::fuzz

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace plumbline;
  fuzz::ByteReader bytes(data, size);
  const bool null = bytes.OneIn(64);
  const std::unique_ptr<std::uint8_t[]> table = fuzz::TableFrom(bytes);
  fuzz::ReadAnswer(bytes);
  const auto* const adapter = null ? nullptr : reinterpret_cast<const pl_adapter*>(table.get());
  const harness::BackendFacts facts = harness::Introduce(adapter);
  for (const std::string& problem : facts.problems) fuzz::Require(!problem.empty(), "a problem without words");
  if (!facts.problems.empty()) return 0;
  fuzz::Require(adapter->abi_major == PL_ABI_MAJOR, "a table of another major is accepted");
  fuzz::Require((facts.capabilities & ~adapter->capabilities) == 0, "more is taken as claimed than is claimed");
#define PLUMBLINE_FUZZ_NEEDED(NAME, entry)                                    \
  fuzz::Require(!facts.Claims(PL_CAPABILITY(NAME)) || PL_HAS(adapter, entry), \
                "a claim without its entry is accepted: " #NAME " without " #entry);
  PLUMBLINE_ABI_CLAIM_NEEDS(PLUMBLINE_FUZZ_NEEDED)
#undef PLUMBLINE_FUZZ_NEEDED
  return 0;
}
