#!/usr/bin/env python3
"""Holds what the clauses say of PyTorch against the finds: a clause that a find names cannot say that PyTorch agrees.

    finds_check.py --root .

Exit status 1 with a line for each clause that does. Standard library only.
"""

import argparse
import pathlib
import re
import sys

ID = re.compile(r"\b[A-Z]{3,5}-\d{3}\b")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--root", type=pathlib.Path, default=pathlib.Path())
    root = parser.parse_args().root
    named: dict[str, str] = {}
    for page in sorted((root / "conformance/adapters/torch").glob("finds*.md")):
        for row in re.findall(r"^\| \[.*$", page.read_text(encoding="utf-8"), re.M):
            for clause in ID.findall(row):
                named.setdefault(clause, page.name)
    wrong = 0
    for chapter in sorted((root / "spec/clauses").glob("[0-9]*.md")):
        for part in re.split(r"^### ", chapter.read_text(encoding="utf-8"), flags=re.M)[1:]:
            clause = part.split(maxsplit=1)[0]
            if clause in named and re.search(r"^\*PyTorch\* agrees\.\s*$", part, re.M):
                print(f"{chapter}: error: {clause} says that PyTorch agrees, and {named[clause]} has a find of it; "
                      "say what differs")
                wrong += 1
    if not named:
        sys.exit(f"{root}/conformance/adapters/torch: error: there are no finds")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
