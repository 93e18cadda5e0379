#!/usr/bin/env python3
"""Reads the clauses and everything that names one, checks the links, and writes clauses.json.

    clause_index.py --root . --output build/generated/clauses.json [--faults warn|error]
    clause_index.py --write-manifest

README.md in this folder has the form of a clause and the list of who names one. manifest.txt lists every link that was
committed and each clause's strength, so that none goes away or gets weaker unseen: what vanished is an error until the
manifest says so too. Chapters in drafts/ bind nobody: they are checked for their form, and nothing but the operator
table and other drafts may name their clauses. What is commented out or stands under `#if 0` names nothing. Exit status 1 if a link is broken,
with one line `file:line: error: what, where, what to do` each. Standard library only.
"""

import argparse
import html
import json
import pathlib
import re
import sys

CHAPTERS = {  # file -> prefix of its ids
    "01-keys": "KEY",
    "02-resolution": "RES",
    "03-registration": "REG",
    "04-calling": "CALL",
    "05-tls": "TLS",
    "06-caching": "CACHE",
    "07-introspection": "INTRO",
    "08-errors": "ERR",
    "09-chains": "CHAIN",
    "10-concurrency": "CONC",
    "11-tensors": "TENS",
    "12-operators": "OPER",
    "13-memory": "MEM",
}
DRAFTS = {  # in drafts/, until each clause has its test and fault
    "14-operators-in-work": "OPER",
}
PROFILES = {
    "core", "fresh", "libraries", "listeners", "warnings", "guards", "fallback", "chains", "redispatch", "typed",
    "boxed", "drain", "cache", "flush", "introspection", "signature", "tensors",
    "operators", "memory", "dlpack",
}
PREFIXES = "|".join([*CHAPTERS.values(), *DRAFTS.values()])
ID = re.compile(rf"\b(?:{PREFIXES})-\d{{3}}\b")
HEADING = re.compile(r"^### (\S+)(?: (.*))?$")
ATTRIBUTES = re.compile(r"^`(MUST|SHOULD)` · profile ([\w-]+)(?: · needs ([^·]+?))? · since (\d+)$")
PL_CLAUSES = re.compile(r"PL_CLAUSES\(([^)]*)\)")
PL_CASE = re.compile(r'PL_(?:SAMPLED_)?CASE\(\s*"([^"]*)",\s*"([^"]*)"')
FAULT = re.compile(r'\bX\(\s*(\w+)\s*,\s*"([^"]*)"\s*,\s*((?:"(?:[^"\\]|\\.)*"[\s\\]*)+)\)')
LINK = re.compile(r"\[([^\]]*)\]\(([^)]*)\)")

MANIFEST = "spec/clauses/manifest.txt"
MANIFEST_HEAD = """# Every clause with its strength and the scenarios, properties and faults that name it, as committed.
# Written by `python3 spec/clauses/clause_index.py --write-manifest`; the build fails when it and the tree differ.
"""
WRITE_MANIFEST = "`python3 spec/clauses/clause_index.py --write-manifest`"
BACK_OR_WRITE = f"put it back or, if that is meant, run {WRITE_MANIFEST} and commit the difference"
KINDS = {"scenario": 0, "property": 1, "fault": 2}  # in the manifest's order


class Clause:
    """One clause as it stands in a chapter, and who names it."""

    def __init__(self, identifier, title, chapter, file, line):
        self.id, self.title, self.chapter, self.file, self.line = identifier, title, chapter, file, line
        self.strength, self.profile, self.needs, self.since = "", "", [], 0
        self.text, self.pytorch, self.examples = "", "", []
        self.tests, self.properties, self.model, self.faults = [], [], [], []
        self.links = set()  # ("scenario" | "property" | "fault", name)

    def as_json(self):
        return {
            "id": self.id,
            "title": self.title,
            "strength": self.strength,
            "profile": self.profile,
            "chapter": self.chapter,
            "needs": self.needs,
            "since": self.since,
            "where": f"{self.file}:{self.line}",
            "text": plain(self.text),
            "html": to_html(self.text),
            "pytorch": plain(self.pytorch),
            "pytorch_html": to_html(self.pytorch),
            "examples": self.examples,
            "tests": self.tests,
            "properties": self.properties,
            "model": self.model,
            "faults": self.faults,
        }


def blank(text):
    """As many characters in as many lines, all of them blanks."""
    return re.sub(r"[^\n]", " ", text)


# What is kept as it is (texts, which may hold //) stands before what is blanked.
CPP_TOKEN = re.compile(r'R"(?P<end>[^()\\ ]{0,16})\(.*?\)(?P=end)"|"(?:[^"\\\n]|\\.)*"|(?<![0-9a-zA-Z])\'(?:[^\'\\\n]|\\.)+\'|'
                       r"(?P<comment>//(?:[^\\\n]|\\.)*|/\*.*?(?:\*/|\Z))", re.DOTALL)
CONDITION = re.compile(r"[ \t]*#[ \t]*(if|ifdef|ifndef|elif|elifdef|elifndef|else|endif)\b(.*)")


def without_comments(source):
    """C++ with its comments blanked, so that lines and columns stay."""
    return CPP_TOKEN.sub(lambda m: blank(m[0]) if m["comment"] else m[0], source)


def without_dead_code(source):
    """C++ with what the preprocessor always leaves out blanked: under `#if 0`, and the `#else` of `#if 1`."""
    never, always = {"0", "false"}, {"1", "true"}
    lines, seen = source.split("\n"), without_comments(source).split("\n")
    open_blocks = []  # each: does this part count, did one that always counts come before
    for i, line in enumerate(seen):
        dead = not all(counts for counts, _ in open_blocks)
        found = CONDITION.match(line)
        if found is None:
            if dead:
                lines[i] = blank(lines[i])
            continue
        directive, condition = found[1], found[2].strip().strip("()").strip()
        if directive.startswith("if"):
            known = directive == "if"
            open_blocks.append((not (known and condition in never), known and condition in always))
        elif not open_blocks:
            continue
        elif directive == "endif":
            open_blocks.pop()
        else:
            taken = open_blocks[-1][1]
            known = directive == "elif"
            open_blocks[-1] = (not taken and not (known and condition in never),
                               taken or (known and condition in always))
    return "\n".join(lines)


def live_code(source):
    """C++ as the compiler sees it, but for macros and what only some builds leave out."""
    return without_comments(without_dead_code(source))


def without_html_comments(markdown):
    return re.sub(r"<!--.*?(?:-->|\Z)", lambda m: blank(m[0]), markdown, flags=re.DOTALL)


def plain(markdown):
    """The text of a few paragraphs without its marks; paragraphs stay apart by an empty line."""
    text = LINK.sub(r"\1", markdown)
    text = re.sub(r"\*\*([^*]+)\*\*|\*([^*]+)\*", lambda m: m[1] or m[2], text)
    return text.replace("`", "")


def to_html(markdown):
    """The same as HTML: code, emphasis, lists and paragraphs; everything else is escaped."""
    paragraphs = []
    for paragraph in filter(None, markdown.split("\n\n")):
        text = html.escape(LINK.sub(r"\1", paragraph))
        text = re.sub(r"`([^`]+)`", r"<code>\1</code>", text)
        text = re.sub(r"\*\*([^*]+)\*\*", r"<strong>\1</strong>", text)
        text = re.sub(r"\*([^*]+)\*", r"<em>\1</em>", text)
        if text.startswith("- "):
            items = re.split(r"(?:^|\n)- ", text)[1:]
            paragraphs.append("<ul>" + "".join(f"<li>{' '.join(i.split())}</li>" for i in items) + "</ul>")
        else:
            paragraphs.append(f"<p>{' '.join(text.split())}</p>")
    return "".join(paragraphs)


class Index:
    """All clauses of a tree and the faults found in its links."""

    def __init__(self, root, faults="warn"):
        self.root, self.missing_fault_is_error = pathlib.Path(root), faults == "error"
        self.clauses, self.drafts, self.errors, self.warnings = {}, {}, [], []

    def error(self, file, line, text):
        self.errors.append(f"{file}:{line}: error: {text}")

    def warn(self, file, line, text):
        self.warnings.append(f"{file}:{line}: warning: {text}")

    def lines(self, path):
        """Of a text; in a page what is commented out is blank, in C++ what is never compiled. C++ comments stay."""
        text = path.read_text(encoding="utf-8")
        if path.suffix == ".md":
            text = without_html_comments(text)
        elif path.suffix in (".cc", ".h"):
            text = without_dead_code(text)
        return text.splitlines()

    def name(self, path):
        return path.relative_to(self.root).as_posix()

    def run(self):
        for stem, prefix in CHAPTERS.items():
            path = self.root / "spec/clauses" / f"{stem}.md"
            if path.exists():
                self.read_chapter(path, stem, prefix, self.clauses, PROFILES)
        for stem, prefix in DRAFTS.items():
            path = self.root / "spec/clauses/drafts" / f"{stem}.md"
            if path.exists():
                self.read_chapter(path, stem, prefix, self.drafts, PROFILES)
        if not self.clauses:
            self.error("spec/clauses", 1, "no chapter holds a clause")
        self.read_corpus()
        self.read_suites()
        self.read_model()
        self.read_faults()
        self.read_operators()
        self.check_prose()
        self.check_needs()
        self.check_links()

    # ---- chapters ----

    def read_chapter(self, path, chapter, prefix, clauses, profiles):
        file, lines = self.name(path), self.lines(path)
        starts = [i for i, line in enumerate(lines) if line.startswith("### ")]
        for start in starts:
            end = next((i for i in range(start + 1, len(lines)) if re.match(r"#{1,3} ", lines[i])), len(lines))
            clause = self.read_clause(file, chapter, prefix, start, lines[start:end], profiles)
            if clause is None:
                continue
            if clause.id in clauses:
                first = clauses[clause.id]
                self.error(file, start + 1, f"{clause.id} is already used at {first.file}:{first.line}; take a new id")
                continue
            clauses[clause.id] = clause

    def read_clause(self, file, chapter, prefix, start, lines, profiles):
        heading = HEADING.match(lines[0])
        identifier, title = heading[1], heading[2]
        if not re.fullmatch(rf"{prefix}-\d{{3}}", identifier):
            self.error(file, start + 1, f"'{identifier}' is no clause id of this chapter; write {prefix}- and three digits")
            return None
        clause = Clause(identifier, title or "", chapter, file, start + 1)
        if not title or title.endswith("."):
            self.error(file, start + 1, f"{identifier} needs a title of one line without a full stop")
        attributes = ATTRIBUTES.match(lines[1]) if len(lines) > 1 else None
        if attributes is None:
            self.error(file, start + 2, f"the line under {identifier} must read "
                       "`MUST` · profile core · needs ID, ID · since 1")
            return clause
        clause.strength, clause.profile, clause.since = attributes[1], attributes[2], int(attributes[4])
        clause.needs = [need.strip() for need in attributes[3].split(",")] if attributes[3] else []
        if clause.profile not in profiles:
            self.error(file, start + 2, f"{identifier} names the unknown profile '{clause.profile}'; README.md lists them")
        example = next((i for i, line in enumerate(lines) if line.startswith("*Example*")), None)
        pytorch = next((i for i, line in enumerate(lines) if line.startswith("*PyTorch*")), None)
        if example is None or pytorch is None or pytorch < example:
            self.error(file, start + 1, f"{identifier} needs an *Example* and, after it, a *PyTorch* note")
            return clause
        clause.text = "\n".join(lines[2:example]).strip()
        clause.pytorch = "\n".join(lines[pytorch:]).strip().removeprefix("*PyTorch*").strip()
        if not clause.text:
            self.error(file, start + 1, f"{identifier} has no text")
        self.read_examples(clause, start, lines[example:pytorch], example)
        return clause

    def read_examples(self, clause, start, lines, offset):
        fence = None
        for i, line in enumerate(lines):
            if fence is None and line.startswith("```"):
                fence = []
                if line.strip() not in ("```scn", "```prog"):
                    self.error(clause.file, start + offset + i + 1,
                               f"an example of {clause.id} must be fenced by ```scn, or ```prog if it is a tensor program")
            elif fence is not None and line.startswith("```"):
                clause.examples.append("\n".join(fence))
                fence = None
            elif fence is not None:
                fence.append(line)
        if not clause.examples:
            self.error(clause.file, start + offset + 1, f"the example of {clause.id} has no ```scn or ```prog fence")
        for text, target in LINK.findall(lines[0]):
            path = (self.root / "spec/clauses" / target).resolve()
            if not path.is_file():
                self.error(clause.file, start + offset + 1, f"{clause.id} links to {target}, which is not there")
                continue
            have = iter([" ".join(line.split()) for line in self.lines(path)])
            for example in clause.examples:
                for line in example.splitlines():
                    wanted = " ".join(line.split())
                    if wanted and wanted not in have:
                        self.error(clause.file, start + offset + 1,
                                   f"the example of {clause.id} has left {text}: it lacks (in order) '{wanted}'")
                        break

    # ---- who names a clause ----

    def clause(self, identifier, file, line, who):
        found = self.clauses.get(identifier)
        if identifier in self.drafts:
            draft = self.drafts[identifier]
            self.error(file, line, f"{who} names {identifier}, which is a draft ({draft.file}:{draft.line}); a draft binds "
                       "nobody, so move it into a chapter first")
        elif found is None:
            self.error(file, line, f"{who} names {identifier}, which no chapter holds; correct the id or write the clause")
        return found

    def read_corpus(self):
        corpus = self.root / "spec/corpus"
        for path in sorted([*corpus.rglob("*.scn"), *corpus.rglob("*.prog")]):
            file, named = self.name(path), []
            for number, line in enumerate(self.lines(path), 1):
                if line.startswith("clauses"):
                    for identifier in line.split()[1:]:
                        named.append(identifier)
                        found = self.clause(identifier, file, number, "this scenario")
                        if found:
                            found.tests.append(f"{file}:{number}")
                            found.links.add(("scenario", path.relative_to(self.root / "spec/corpus").as_posix()))
                            if path.suffix == ".prog":  # says itself what is to come of it
                                found.model.append(f"{file}:{number}")
            if not named:
                self.error(file, 1, "this scenario names no clause; add a line `clauses ID ...` to its head")
            own = re.match(rf"((?:{PREFIXES})-\d+)", path.name)
            if own and named and own[1] not in named:
                self.error(file, 1, f"this scenario is filed under {own[1]} and does not name it")

    def sources(self, folder):
        base = self.root / folder
        return [p for p in sorted(base.rglob("*")) if p.suffix in (".cc", ".h")] if base.exists() else []

    def read_suites(self):
        for path in self.sources("conformance/suites"):
            source = path.read_text(encoding="utf-8")
            text, bare, file = live_code(source), without_comments(source), self.name(path)
            if path.suffix == ".cc":
                for condition in re.finditer(r"(?m)^[ \t]*#[ \t]*if", bare):
                    self.error(file, bare.count("\n", 0, condition.start()) + 1,
                               "a case must not depend on a condition of the preprocessor: it could vanish unseen")
            for use in PL_CLAUSES.finditer(text):
                if text[: use.start()].rsplit("\n", 1)[-1].lstrip().startswith("#define"):
                    continue
                number = text.count("\n", 0, use.start()) + 1
                case = [f"{c[1]}/{c[2]}" for c in PL_CASE.finditer(text, 0, use.start())]
                if not case:
                    self.error(file, number, 'PL_CLAUSES belongs into a PL_CASE("chapter", "name", ...)')
                    continue
                identifiers = re.findall(r'"([^"]*)"', use[1])
                if not identifiers:
                    self.error(file, number, "PL_CLAUSES names no clause")
                for identifier in identifiers:
                    found = self.clause(identifier, file, number, "this case")
                    if found:
                        found.tests.append(f"{file}:{number}")
                        found.properties.append({"name": case[-1], "where": f"{file}:{number}"})
                        found.links.add(("property", case[-1]))

    def read_model(self):
        # What threads may see together is judged by histories; how processes and threads may end, by the suites' programs.
        # What operators compute is predicted by the oracle, which is the suite's too.
        judges = [path for path in self.sources("conformance/suites")
                  if path.stem.startswith("lifecycle") or path.parent.name == "operators"]
        for path in self.sources("spec/model") + self.sources("conformance/race") + judges:
            if path.stem.endswith("_test"):
                continue
            file = self.name(path)
            for number, line in enumerate(self.lines(path), 1):
                for identifier in re.findall(rf"\[((?:{PREFIXES})-\d+)\]", line):
                    found = self.clause(identifier, file, number, "this line of the model")
                    if found and f"{file}:{number}" not in found.model:
                        found.model.append(f"{file}:{number}")
        # A clause that code cites elsewhere, in a comment or for a reader of its output, must at least be there.
        self.check_cited(rf"//.*?\[((?:{PREFIXES})-\d+)\]", "spec/scenario", "reference", "conformance")
        self.check_cited(rf'"((?:{PREFIXES})-\d+)"', "spec/model", "conformance/cli", "conformance/harness")

    def check_cited(self, pattern, *folders):
        for folder in folders:
            for path in self.sources(folder):
                if path.stem.endswith("_test"):
                    continue
                for number, line in enumerate(self.lines(path), 1):
                    for identifier in re.findall(pattern, line):
                        self.clause(identifier, self.name(path), number, "this line")

    def read_faults(self):
        names = {}
        for path in [p for p in self.sources("reference/faults") if p.suffix == ".h"]:
            text, file = live_code(path.read_text(encoding="utf-8")), self.name(path)
            for use in FAULT.finditer(text):
                where = f"{file}:{text.count(chr(10), 0, use.start()) + 1}"
                self.read_fault(use, where, names)

    def read_fault(self, use, where, names):
        file, line = where.rsplit(":", 1)
        name = use[1]
        if name in names:
            self.error(file, line, f"the fault {name} stands twice, first at {names[name]}")
        names[name] = where
        found = self.clause(use[2], file, line, f"the fault {name}")
        if found:
            what = "".join(re.findall(r'"((?:[^"\\]|\\.)*)"', use[3]))
            found.faults.append({"name": name, "where": where, "what": what})
            found.links.add(("fault", name))

    def read_operators(self):
        for path in sorted((self.root / "spec/tables/operators").glob("*.toml")):
            text, file = path.read_text(encoding="utf-8"), self.name(path)
            for use in re.finditer(r"(?m)^clauses = \[([^\]]*)\]", text):
                for identifier in re.findall(r'"([^"]*)"', use[1]):
                    if identifier not in self.drafts:
                        self.clause(identifier, file, text.count("\n", 0, use.start()) + 1, "this table")

    # ---- checks over all ----

    def check_prose(self):
        """No chapter or page beside them mentions a clause that is not there."""
        base = self.root / "spec/clauses"
        for path in sorted(base.glob("*.md")) + sorted((base / "drafts").glob("*.md")):
            for number, line in enumerate(self.lines(path), 1):
                if line.startswith("### ") or ATTRIBUTES.match(line):
                    continue
                for identifier in ID.findall(line):
                    if identifier not in self.drafts or path.parent.name != "drafts":
                        self.clause(identifier, self.name(path), number, "the text")
                for _, target in LINK.findall(line):
                    if not re.match(r"[a-z]+:|#", target) and not (path.parent / target.split("#")[0]).exists():
                        self.error(self.name(path), number, f"the link to {target} leads nowhere")

    def check_needs(self):
        known = self.clauses | self.drafts
        for clause in known.values():
            for need in clause.needs:
                if need not in (known if clause.id in self.drafts else self.clauses):
                    self.error(clause.file, clause.line + 1, f"{clause.id} needs {need}, which no chapter holds")
        state = {}

        def visit(identifier, path):
            if state.get(identifier) == "done":
                return
            if state.get(identifier) == "open":
                clause = known[identifier]
                cycle = " -> ".join(path[path.index(identifier):] + [identifier])
                self.error(clause.file, clause.line + 1, f"`needs` runs in a circle: {cycle}")
                return
            state[identifier] = "open"
            for need in known[identifier].needs:
                if need in known:
                    visit(need, path + [identifier])
            state[identifier] = "done"

        for identifier in known:
            visit(identifier, [])

    def check_links(self):
        for clause in self.clauses.values():
            if not clause.tests:
                self.error(clause.file, clause.line, f"{clause.id} has no test; add a scenario to spec/corpus whose "
                           "`clauses` line names it, or a case with PL_CLAUSES")
            if clause.strength == "MUST" and not clause.faults:
                report = self.error if self.missing_fault_is_error else self.warn
                report(clause.file, clause.line,
                       f"{clause.id} is a MUST and has no fault; add one to reference/faults")
            if not clause.model:
                self.warn(clause.file, clause.line, f"{clause.id} is named by no line of spec/model or conformance/race")

    # ---- the manifest ----

    def manifest(self):
        lines = [MANIFEST_HEAD]
        for clause in self.clauses.values():
            lines.append(f"{clause.id} {clause.strength}\n")
            lines += [f"  {kind} {name}\n" for kind, name in sorted(clause.links, key=lambda link: (KINDS[link[0]], link))]
        return "".join(lines)

    def check_manifest(self):
        """Every link and strength that the manifest lists is still so, and it lists every link."""
        path = self.root / MANIFEST
        if not path.exists():
            return self.error(MANIFEST, 1, f"there is no manifest of the links; write it by {WRITE_MANIFEST}")
        known, clause, gone = {}, "", {}
        for number, line in enumerate(self.lines(path), 1):
            if line.startswith("  "):
                link = tuple(line.split(maxsplit=1))
                known[clause].add(link)
                if clause in self.clauses and link not in self.clauses[clause].links:
                    gone.setdefault(link, []).append((clause, number))
            elif line and not line.startswith("#"):
                clause, _, strength = line.partition(" ")
                known[clause] = set()
                if clause not in self.clauses:
                    self.error(MANIFEST, number, f"the clause {clause} vanished; {BACK_OR_WRITE}")
                elif strength != self.clauses[clause].strength:
                    self.error(MANIFEST, number, f"{clause} was {strength or 'of no listed strength'} and is "
                               f"{self.clauses[clause].strength}; {BACK_OR_WRITE}")
        for (kind, name), clauses in gone.items():
            there = any((kind, name) in other.links for other in self.clauses.values())
            names = ", ".join(clause for clause, _ in clauses)
            self.error(MANIFEST, clauses[0][1], f"the {kind} {name} " + ("no longer names " if there else
                       "vanished, which named ") + f"{names}; {BACK_OR_WRITE}")
        new = [f"{clause.id} {kind} {name}" for clause in self.clauses.values()
               for kind, name in sorted(clause.links - known.get(clause.id, set()))]
        new += [identifier for identifier in self.clauses if identifier not in known]
        if new:
            self.error(MANIFEST, 1, f"{len(new)} new {'entry is' if len(new) == 1 else 'entries are'} not listed "
                       f"({', '.join(new[:3])}{', ...' if len(new) > 3 else ''}); list them by {WRITE_MANIFEST}")

    def to_json(self):
        clauses = [self.clauses[i].as_json() for i in self.clauses]
        drafts = [{"id": draft.id, "title": draft.title, "where": f"{draft.file}:{draft.line}"}
                  for _, draft in sorted(self.drafts.items())]
        return json.dumps({"format": 1, "clauses": clauses, "drafts": drafts}, indent=1, ensure_ascii=False) + "\n"


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--root", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parents[2])
    parser.add_argument("--output", type=pathlib.Path, help="where to write clauses.json; left out: check only")
    parser.add_argument("--faults", choices=("warn", "error"), default="warn",
                        help="what a MUST clause without a fault is")
    parser.add_argument("--warnings", action="store_true", help="print each warning, not just how many there are")
    parser.add_argument("--write-manifest", action="store_true", help=f"write {MANIFEST} anew, if all else is sound")
    options = parser.parse_args(arguments)
    index = Index(options.root, options.faults)
    index.run()
    if options.write_manifest and not index.errors:
        (options.root / MANIFEST).write_text(index.manifest(), encoding="utf-8")
    index.check_manifest()
    for line in index.errors + (index.warnings if options.warnings else []):
        print(line, file=sys.stderr)
    if index.errors:
        print(f"clauses: {len(index.errors)} broken links", file=sys.stderr)
        return 1
    if options.output:
        text = index.to_json()
        options.output.parent.mkdir(parents=True, exist_ok=True)
        if not options.output.exists() or options.output.read_text(encoding="utf-8") != text:
            options.output.write_text(text, encoding="utf-8")
    tests = sum(len(c.tests) for c in index.clauses.values())
    faults = sum(len(c.faults) for c in index.clauses.values())
    print(f"clauses: {len(index.clauses)} with {tests} tests and {faults} faults, {len(index.warnings)} warnings")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
