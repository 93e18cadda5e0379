#include "conformance/harness/backend_file.h"

#include <elf.h>
#include <fmt/core.h>
#include <fmt/format.h>

#include <array>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include "conformance/harness/nearest.h"
#include "conformance/harness/text_file.h"

namespace plumbline::harness {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> Folders() {
  std::vector<fs::path> folders;
  if (const char* list = std::getenv("PLUMBLINE_BACKEND_PATH")) {
    std::istringstream in(list);
    for (std::string folder; std::getline(in, folder, ':');) {
      if (!folder.empty()) folders.emplace_back(folder);
    }
  }
  folders.push_back(fs::path(ProgramFolder()) / ".." / "lib" / "plumbline" / "backends");
  return folders;
}

// The machine this program itself was built for, and the name of any machine, as e_machine says it.
#if defined(__x86_64__)
constexpr int kOurMachine = EM_X86_64;
#elif defined(__aarch64__)
constexpr int kOurMachine = EM_AARCH64;
#elif defined(__riscv)
constexpr int kOurMachine = EM_RISCV;
#elif defined(__powerpc64__)
constexpr int kOurMachine = EM_PPC64;
#else
constexpr int kOurMachine = EM_NONE;
#endif

std::string MachineName(int machine) {
  switch (machine) {
    case EM_X86_64:
      return "x86-64";
    case EM_386:
      return "32-bit x86";
    case EM_AARCH64:
      return "AArch64";
    case EM_ARM:
      return "32-bit ARM";
    case EM_RISCV:
      return "RISC-V";
    case EM_PPC64:
      return "64-bit PowerPC";
    case EM_S390:
      return "S/390";
    default:
      return fmt::format("machine {}", machine);
  }
}

}  // namespace

std::string ProgramFolder() {
  std::error_code failed;
  const fs::path program = fs::read_symlink("/proc/self/exe", failed);
  return failed ? "." : program.parent_path().string();
}

std::vector<std::pair<std::string, std::string>> ListBackends() {
  std::map<std::string, std::string> found;
  for (const fs::path& folder : Folders()) {
    std::error_code failed;
    for (const auto& entry : fs::directory_iterator(folder, failed)) {
      if (entry.path().extension() != ".so") continue;
      found.emplace(entry.path().stem().string(), entry.path().lexically_normal().string());
    }
  }
  return {found.begin(), found.end()};
}

OrError<std::string> FindBackend(const std::string& name_or_path) {
  if (name_or_path.empty()) return InputError{"--backend needs a name or the path of a shared object"};
  const bool is_path = name_or_path.find('/') != std::string::npos || name_or_path.ends_with(".so");
  if (is_path) {
    std::error_code failed;
    const fs::path absolute = fs::absolute(name_or_path, failed);
    return failed ? name_or_path : absolute.lexically_normal().string();
  }
  std::vector<std::string> known;
  for (const auto& [name, path] : ListBackends()) {
    if (name == name_or_path) return path;
    known.push_back(name);
  }
  std::string searched;
  for (const fs::path& folder : Folders()) searched += "\n  " + folder.lexically_normal().string();
  return InputError{fmt::format(
      "there is no backend called '{}'{}\nThere is: {}\nSearched:{}\nGive the path of a shared object instead "
      "(--backend ./lib{}.so), or add its folder to PLUMBLINE_BACKEND_PATH.",
      name_or_path, DidYouMean(name_or_path, known), known.empty() ? "none" : fmt::format("{}", fmt::join(known, ", ")),
      searched, name_or_path)};
}

std::optional<std::string> CheckSharedObject(const std::string& path, SharedObject kind) {
  const bool backend = kind == SharedObject::kBackend;
  const std::string file = (backend ? "backend " : "--load ") + path;
  std::error_code failed;
  const fs::file_status status = fs::status(path, failed);
  if (!fs::exists(status)) {
    return fmt::format("{}: there is no such file\nCheck the path, or build the shared object first.", file);
  }
  if (fs::is_directory(status)) {
    return fmt::format("{}: this is a folder\nGive the shared object inside it.", file);
  }
  if (const auto kind = NoRegularFile(path)) {
    return fmt::format("{}: this is {}\nGive a file: the shared object that the linker wrote.", file, *kind);
  }
  std::ifstream in(path, std::ios::binary);
  std::array<char, sizeof(Elf64_Ehdr)> bytes{};
  in.read(bytes.data(), bytes.size());
  const auto size = static_cast<std::size_t>(in.gcount());
  if (!in && size == 0) {
    return fmt::format("{}: the file {}\nGive a shared object (ELF){}.", file,
                       fs::is_empty(path, failed) ? "is empty" : "cannot be read",
                       backend ? " that exports plumbline_get_adapter" : "");
  }
  if (std::memcmp(bytes.data(), ELFMAG, SELFMAG) != 0) {
    std::string start;
    for (std::size_t i = 0; i < std::min<std::size_t>(size, 4); ++i) {
      start += fmt::format("{}{:02x}", i == 0 ? "" : " ", static_cast<unsigned char>(bytes[i]));
    }
    return fmt::format(
        "{}: this is not a shared object: it starts with the bytes {} where an ELF file has 7f 45 4c 46\n"
        "Give the file that the linker wrote (with -shared), not a source, an archive or a script.",
        file, start);
  }
  if (size < sizeof(Elf64_Ehdr)) {
    return fmt::format("{}: the file is cut short after {} bytes\nBuild or copy it again.", file, size);
  }
  if (bytes[EI_CLASS] != ELFCLASS64) {
    return fmt::format("{}: it is a 32-bit object and this program is 64-bit ({})\nBuild it for this machine.", file,
                       MachineName(kOurMachine));
  }
  Elf64_Ehdr header;
  std::memcpy(&header, bytes.data(), sizeof(header));
  if (kOurMachine != EM_NONE && header.e_machine != kOurMachine) {
    return fmt::format("{}: it was built for {} and this machine is {}\nBuild it for this machine.", file,
                       MachineName(header.e_machine), MachineName(kOurMachine));
  }
  if (header.e_type != ET_DYN) {
    return fmt::format(
        "{}: this ELF file is {} and not a shared object\nLink it with -shared (CMake: add_library(... "
        "MODULE ...)).",
        file,
        header.e_type == ET_REL    ? "an object file"
        : header.e_type == ET_EXEC ? "a program"
                                   : "of another type");
  }
  return std::nullopt;
}

}  // namespace plumbline::harness
