#!/usr/bin/env python3
"""Counts the tests of a CTest run and prints `N passed, N failed`; exits 1 if any failed or none ran.

A GoogleTest program counts as its cases (from the JSON files that GTEST_OUTPUT made it write); any other CTest test
counts as one, and so does a program that ended without a JSON file, such as a crash.

    count_tests.py build/release/test-results
"""

import json
import pathlib
import sys
import xml.etree.ElementTree as xml


def main(folder: pathlib.Path) -> int:
    passed = failed = 0
    reported = {}
    for file in folder.glob("*.json"):
        report = json.loads(file.read_text(encoding="utf-8"))
        bad = report["failures"] + report.get("errors", 0)
        reported[file.stem] = (report["tests"] - report.get("disabled", 0) - bad, bad)
    names = []
    for case in xml.parse(folder / "ctest.xml").getroot().iter("testcase"):
        name, good = case.get("name"), case.get("status") == "run"
        cases_good, cases_bad = reported.pop(name, (0, 0))
        if cases_good + cases_bad == 0 or (not good and cases_bad == 0):
            cases_good, cases_bad = cases_good + good, cases_bad + (not good)
        passed, failed = passed + cases_good, failed + cases_bad
        if not good:
            names.append(name)
    for name in names:
        print(f"failed: {name}")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1])))
