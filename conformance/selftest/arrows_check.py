#!/usr/bin/env python3
"""Checks which folder includes which: dependency arrows run one way.

    arrows_check.py --root .

RULES below is the whole of it: a folder may include from itself and from the folders named for it; the longest prefix
decides. Prints `file:line: error: ...` for each include that runs the wrong way; exit status 1 if there is one.
Standard library only.
"""

import argparse
import os
import pathlib
import re
import sys

# From the ground up; each may include from those before it.
REFERENCE_LAYERS = ["faults", "keys", "tensor", "boxing", "registry", "dispatch", ("autograd", "transforms"),
                    "introspect", "adapter"]

RULES = {
    # What is right. Knows nobody but itself, and there: tables are data for all, the model reads scenarios.
    "spec/tables": [],
    "spec/abi": ["spec/tables"],
    "spec/scenario": ["spec/tables"],
    "spec/model": ["spec/tables", "spec/scenario"],
    "spec/clauses": [],
    "reports": [],
    "reference": ["spec/tables"],
    "kernels": ["reference", "spec/tables"],
    "kernels/backend": ["kernels", "reference", "spec/abi", "spec/tables"],
    # A device as a stranger would write it: only what is installed.
    "kernels/opencl": ["kernels/call.h", "kernels/device_kernels.h", "kernels/named_kernel.h", "kernels/shapes",
                       "kernels/testing", "reference", "spec/tables"],
    # Reaches a backend only through the ABI.
    "conformance/harness": ["spec", "reports"],
    "conformance/suites": ["spec", "reports", "conformance/harness"],
    "conformance/race": ["spec", "reports", "conformance/harness"],
    "conformance/cli": ["spec", "reports", "conformance/harness", "conformance/suites", "conformance/race"],
    "conformance/selftest": ["spec", "reports", "conformance"],
    # A backend is judged like a stranger's: it knows the ABI and the data tables.
    "conformance/adapters": ["spec/abi", "spec/tables"],
    "fuzz": ["spec", "reports", "conformance/harness", "conformance/race"],
    "perf": ["spec", "reports", "conformance/harness"],
    # Times the loops themselves, beside libtorch's.
    "perf/kernels": ["kernels", "reference", "spec/tables"],
}

# A kernels folder other than the backend sees the reference, not its adapter.
FORBIDDEN = {"kernels": ["reference/adapter"], "kernels/backend": []}


def add_reference_layers():
    below = []
    for layer in REFERENCE_LAYERS:
        together = [layer] if isinstance(layer, str) else list(layer)
        for name in together:
            allowed = [f"reference/{other}" for other in below + together] + ["spec/tables"]
            RULES[f"reference/{name}"] = allowed + (["spec/abi"] if name == "adapter" else [])
        below += together


add_reference_layers()
# A project of its own, which sees what is installed.
CONSUMER = "conformance/selftest/consumer"
# A project of its own, which sees nothing of ours, as that of somebody who has never heard of us.
STRANGER = "conformance/adapters/privateuseone"
TOP_FOLDERS = {rule.split("/")[0] for rule in RULES}
SUFFIXES = {".h", ".hpp", ".cc", ".cpp", ".c", ".cu", ".cuh", ".inc"}
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^">]+)[">]')


def under(path, folder):
    return path == folder or path.startswith(folder + "/")


def rule_for(path, rules):
    """The longest folder of `rules` that holds `path`."""
    return max((folder for folder in rules if under(path, folder)), key=len, default=None)


def check_include(file, included, quoted):
    """Why the file may not include this, or None."""
    top = included.split("/")[0]
    if under(file, STRANGER):
        return f"{STRANGER} is a project without us: it may not know \"{included}\"" if top in TOP_FOLDERS else None
    if top not in TOP_FOLDERS:
        if quoted and ("/" not in included or included.startswith(".")):
            return f'"{included}" is not written from the root of the tree; write "folder/.../x.h", or <x.h> for a library'
        return None
    if not quoted:
        return f'<{included}> is ours; write it with quotes'
    rule = rule_for(file, RULES)
    if rule is None:
        return f"no rule says what {os.path.dirname(file)} may include; add one to arrows_check.py"
    if included.endswith((".cc", ".cpp", ".c")):
        return f'"{included}" is a source file; include a header'
    allowed = [rule] + RULES[rule]
    if file.endswith("_test.cc") and under(file, "reference"):
        allowed = allowed + ["reference"]  # a test may call what it tests through the layers above
    forbidden = FORBIDDEN.get(rule_for(file, FORBIDDEN), [])
    if any(under(included, folder) for folder in allowed) and not any(under(included, folder) for folder in forbidden):
        return None
    return f'{rule} may not know {os.path.dirname(included)}: "{included}"; it may include from {", ".join(allowed)}'


def sources(root):
    for folder in sorted(TOP_FOLDERS):
        for path in sorted((root / folder).rglob("*")):
            if path.suffix in SUFFIXES and path.is_file() and not under(path.relative_to(root).as_posix(), CONSUMER):
                yield path


def check(root):
    """(errors, number of files, number of includes from the tree)."""
    errors, files, includes = [], 0, 0
    for path in sources(root):
        files += 1
        file = path.relative_to(root).as_posix()
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            found = INCLUDE.match(line)
            if not found:
                continue
            includes += found[2].split("/")[0] in TOP_FOLDERS
            why = check_include(file, found[2], found[1] == '"')
            if why:
                errors.append(f"{file}:{number}: error: {why}")
    return errors, files, includes


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--root", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parents[2])
    root = parser.parse_args(arguments).root
    errors, files, includes = check(root)
    for error in errors:
        print(error, file=sys.stderr)
    if files == 0:
        print(f"{root}: error: there are no sources here", file=sys.stderr)
        return 1
    print(f"arrows: {includes} includes in {files} files, {len(errors)} the wrong way")
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
