#!/usr/bin/env python3
"""Mutants of the publication core: does something notice each small change of registry/publication.h?

    reference/mutants/mutate.py [--build build/release] [--only TEXT] [--list] [--out FILE]     (or ./dev mutants)

Each mutant has one change: a weaker memory order, a statement left out, two adjacent statements swapped, a condition
negated or made constant, a number or an operator replaced. It is compiled to LLVM IR first: a mutant whose code is the
original's is *equivalent*, and one that does not compile is *stillborn*. The others have to be killed, by the first of

    unit      publication_test, one thread at a time
    tsan      ... its threads, under the thread sanitizer
    relacy    publication_relacy_test --quick

Prints a line for each: verdict, place, change. What survives has to be explained in survivors.md, by its line in
backquotes. Exit status 1 if a survivor is not, or if an explanation is of none. Standard library only.
"""

import argparse
import pathlib
import re
import resource
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
CORE = "reference/registry/publication.h"
# A mutant that waits for ever is killed by a limit. CPU seconds do not depend on what else the machine does, but one
# that only yields may use none.
UNIT_LIMIT, RELACY_LIMIT, WALL_LIMIT = 5, 60, 90

WEAKER = {"acq_rel": ["acquire", "release", "relaxed"], "acquire": ["relaxed"], "release": ["relaxed"]}
REPLACED = [
    (r"(?<=store\()1(?=,)", "0"), (r"(?<=store\()0(?=,)", "1"), (r"(?<=fetch_add\()1(?=,)", "0"),
    (r"(?<=fetch_add\()1(?=,)", "2"), (r"(?<=fetch_sub\()1(?=,)", "2"), (r"\bfetch_add\b", "fetch_sub"),
    (r"\bfetch_sub\b", "fetch_add"), (r"== 1\b", "!= 1"), (r"== 1\b", "== 0"), (r"== 1\b", "<= 1"),
    (r"& kSlotFormBits\b", "& kCounted"), (r"== kDirect\b", "== kIndirect"), (r"& kCounted\b", "& kIndirect"),
    (r"& ~kSlotFormBits", "& kSlotFormBits"), (r"\breturn word;", "return word | kIndirect;"),
    (r"\breturn word;", "return word & kSlotFormBits;"),
]
STATEMENT = re.compile(r"^\s+[A-Za-z_][\w:]*(\.\w+)?\(.*\);(\s*//.*)?$")


class Mutant:
    def __init__(self, function: str, line: int, text: list[str], what: str):
        self.function, self.line, self.text, self.what = function, line, text, what

    def name(self) -> str:
        return f"{self.function}: {self.what}"


def bare(line: str) -> str:
    """A line without indentation and comment."""
    return re.sub(r"\s*//.*$", "", line).strip()


def mutants(source: list[str]) -> list[Mutant]:
    found: list[Mutant] = []
    start = next(i for i, line in enumerate(source) if line.startswith("struct Publication"))
    function = ""

    def add(i: int, new: list[str], what: str) -> None:
        """Line i (and as many more as there are new lines) replaced."""
        text = source[:i] + new + source[i + len(new):]
        if text == source or any(other.text == text for other in found):
            return
        same = sum(other.function == function and other.what.split(" [")[0] == what for other in found)
        found.append(Mutant(function, i + 1, text, what + (f" [{same + 1}]" if same else "")))

    for i in range(start, len(source)):
        line = source[i]
        if line.startswith("};"):
            break
        named = re.search(r"static [\w:<>*& ]*?(\w+)\(", line)
        code = line
        body_from = 0
        if named:
            function = named.group(1)
            if not line.rstrip().endswith("}"):
                continue  # only the head
            body_from = line.index("{")
        elif line.lstrip().startswith(("//", "template", "using", "struct")):
            continue

        def replace(match: re.Match, new: str) -> None:
            if match.start() < body_from:
                return
            changed = code[:match.start()] + new + code[match.end():]
            old_text, new_text = bare(code[body_from:]).strip("{ }"), bare(changed[body_from:]).strip("{ }")
            add(i, [changed], f"{old_text} -> {new_text}")

        for match in re.finditer(r"memory_order_(\w+)", code):
            for weaker in WEAKER.get(match.group(1), []):
                replace(match, f"memory_order_{weaker}")
        for pattern, new in REPLACED:
            for match in re.finditer(pattern, code):
                replace(match, new)
        for match in re.finditer(r"\b(if|while) (\((?:[^()]|\([^()]*\)|\([^()]*\([^()]*\)[^()]*\))*\))", code):
            for new in (f"(!{match.group(2)})", "(true)", "(false)"):
                replace(re.compile(re.escape(match.group(2))).search(code, match.start(2)), new)
        if named and code.count(";") == 1:
            inner = re.compile(r"(?<=\{ )[^{}]+;(?= \})").search(code)
            if inner and not inner.group(0).startswith("return"):
                add(i, [code[:inner.start()] + code[inner.end():]], f"{inner.group(0)} -> left out")
        if STATEMENT.match(code) or re.match(r"^\s+for \(.*\) \w+\(.*\);", code):
            add(i, [re.match(r"\s*", code).group(0) + ";"], f"{bare(code)} -> left out")
        body = re.match(r"^(\s+(?:if|while) \(.*\)) ([\w:]+\([^()]*(?:\([^()]*\)[^()]*)*\));", code)
        if body:
            add(i, [body.group(1) + ";"], f"{bare(body.group(1))} {body.group(2)} -> without {body.group(2)}")
        if i + 1 < len(source):
            after = source[i + 1]
            ends = [bare(one).endswith(";") and not bare(one).startswith(("return", "using", "}"))
                    for one in (code, after)]
            if all(ends) and not named and not re.search(r"static ", after):
                add(i, [after, code], f"{bare(code)} <-> {bare(after)}")
    return found


class Bench:
    """Compiles and runs one version of the core in a folder of its own."""

    def __init__(self, folder: pathlib.Path, build: pathlib.Path, clang: str | None):
        self.folder, self.clang = folder, clang
        self.includes = [f"-I{folder}", f"-I{ROOT}", f"-I{build / 'generated'}"]
        (folder / CORE).parent.mkdir(parents=True, exist_ok=True)
        # What does not change with the core.
        self.compile(["-fsanitize=thread", "-O1", "-c", str(ROOT / "reference/registry/reclaim.cc"), "-o",
                      str(folder / "reclaim.o")], must=True)

    def compile(self, arguments: list[str], must: bool = False) -> bool:
        run = subprocess.run(["g++", "-std=c++20", *self.includes, *arguments], capture_output=True, text=True)
        if must and run.returncode != 0:
            sys.exit(f"mutants: the original does not compile:\n{run.stderr}")
        return run.returncode == 0

    def code(self) -> str | None:
        """The LLVM code of the version; None: it does not compile."""
        run = subprocess.run([self.clang or "", "-std=c++20", "-O1", "-S", "-emit-llvm", *self.includes, "-o", "-",
                              str(ROOT / "reference/mutants/instance.cc")], capture_output=True, text=True)
        if run.returncode != 0:
            return None
        return "\n".join(l for l in run.stdout.splitlines() if not l.startswith(("source_filename", "; ModuleID")))

    def passes(self, command: list[str], seconds: int = UNIT_LIMIT) -> bool:
        def limit() -> None:
            resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

        try:
            run = subprocess.run(command, capture_output=True, preexec_fn=limit, cwd=self.folder,
                                 timeout=max(WALL_LIMIT, 10 * seconds))
        except subprocess.TimeoutExpired:
            return False
        return run.returncode == 0

    def verdict(self, original: str | None) -> str:
        if self.clang is not None:
            code = self.code()
            if code is None:
                return "stillborn"
            if code == original:
                return "equivalent"
        unit, relacy = str(self.folder / "unit"), str(self.folder / "relacy")
        if not self.compile(["-O1", "-fsanitize=thread", str(ROOT / "reference/registry/publication_test.cc"),
                             str(self.folder / "reclaim.o"), "-o", unit, "-lgmock_main", "-lgmock", "-lgtest"]):
            return "stillborn"
        threads = "*HoldsUnderThreads*"
        if not self.passes([unit, f"--gtest_filter=-{threads}"]):
            return "unit"
        if not self.passes([unit, f"--gtest_filter={threads}"]):
            return "tsan"
        if not self.compile(["-O1", "-w", "-fno-sized-deallocation", "-fno-lifetime-dse", "-o", relacy,
                             str(ROOT / "reference/relacy/publication_relacy_test.cc")]):
            return "stillborn"
        return "survived" if self.passes([relacy, "--quick"], RELACY_LIMIT) else "relacy"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/release")
    parser.add_argument("--only", action="append", metavar="TEXT",
                        help="only mutants whose line contains this; may be given several times")
    parser.add_argument("--list", action="store_true", help="print the mutants and run none")
    parser.add_argument("--out", type=pathlib.Path, help="write the table there too")
    arguments = parser.parse_args()
    source = (ROOT / CORE).read_text(encoding="utf-8").splitlines()

    def wanted(name: str) -> bool:
        return not arguments.only or any(text in name for text in arguments.only)

    chosen = [mutant for mutant in mutants(source) if wanted(mutant.name())]
    if not chosen:
        print(f"mutants: no mutant's line contains {' or '.join(arguments.only)}", file=sys.stderr)
        return 2
    if arguments.list:
        print("\n".join(f"{mutant.line}\t{mutant.name()}" for mutant in chosen))
        return 0
    clang = shutil.which("clang++-19") or shutil.which("clang-19")
    if clang is None:
        print("mutants: clang-19 is missing, so equivalent mutants are not recognised", file=sys.stderr)
    counts, lines, survivors = {}, [], []
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(pathlib.Path(folder), arguments.build.resolve(), clang)
        target = bench.folder / CORE

        def write(text: list[str]) -> None:
            target.write_text("\n".join(text) + "\n", encoding="utf-8")

        write(source)
        if (verdict := bench.verdict(None)) != "survived":
            sys.exit(f"mutants: the original does not pass its own tests: {verdict}")
        original = bench.code() if clang is not None else None
        for mutant in chosen:
            write(mutant.text)
            verdict = bench.verdict(original)
            counts[verdict] = counts.get(verdict, 0) + 1
            if verdict == "survived":
                survivors.append(mutant.name())
            lines.append(f"{verdict:<11}{mutant.line:>4}  {mutant.name()}")
            print(lines[-1], flush=True)
    cpu = resource.getrusage(resource.RUSAGE_CHILDREN)
    killed = sum(counts.get(how, 0) for how in ("unit", "tsan", "relacy"))
    summary = (f"{len(chosen)} mutants: {killed} killed (" +
               ", ".join(f"{counts.get(how, 0)} {how}" for how in ("unit", "tsan", "relacy")) +
               f"), {counts.get('survived', 0)} survived, {counts.get('equivalent', 0)} equivalent, "
               f"{counts.get('stillborn', 0)} stillborn; {cpu.ru_utime + cpu.ru_stime:.0f} s of CPU time")
    print(summary)
    if arguments.out:
        arguments.out.write_text("\n".join(lines + [summary]) + "\n", encoding="utf-8")
    explained = set(re.findall(r"^### `(.*)`$", (ROOT / "reference/mutants/survivors.md").read_text(encoding="utf-8"),
                               re.M))
    unexplained = [name for name in survivors if name not in explained]
    stale = [name for name in explained if wanted(name) and name not in survivors]
    for name in unexplained:
        print(f"mutants: survived, and survivors.md does not explain it: {name}", file=sys.stderr)
    for name in stale:
        print(f"mutants: survivors.md explains what did not survive: {name}", file=sys.stderr)
    return 1 if unexplained or stale else 0


if __name__ == "__main__":
    sys.exit(main())
