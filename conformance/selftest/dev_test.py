#!/usr/bin/env python3
"""What ./dev says by itself, with stand-ins for the tools that it runs. Standard library only."""

import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

DEV = pathlib.Path(__file__).resolve().parents[2] / "dev"
# Ninja's dry run ends in the number of its steps; a build leaves a log behind.
CMAKE = """#!/usr/bin/env bash
if [[ " $* " == *" -n "* ]]; then
  printf '[1/182] a\\n[182/182] b\\n'
elif [[ $1 == --build ]]; then
  echo "builds $*"
  touch "build/$3/.ninja_log"
fi
"""


class DevTest(unittest.TestCase):
    def setUp(self):
        self.tree = pathlib.Path(tempfile.mkdtemp(prefix="plumbline-test-"))
        self.addCleanup(shutil.rmtree, self.tree)
        shutil.copy(DEV, self.tree / "dev")
        (self.tree / "packages.txt").write_text("")
        self.put("tools/cmake", CMAKE)
        self.put("tools/dpkg-query", "#!/bin/sh\necho installed\n")
        self.put("build/fuzz/bin/plumbline-fuzz", '#!/bin/sh\necho "fuzzes $*"\n')

    def put(self, name, text):
        path = self.tree / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        path.chmod(0o755)

    def dev(self, *arguments):
        environment = dict(os.environ, PATH=f"{self.tree / 'tools'}:{os.environ['PATH']}")
        ran = subprocess.run(["bash", self.tree / "dev", *arguments], capture_output=True, text=True, timeout=60,
                             env=environment, check=False)
        return ran.returncode, ran.stdout, ran.stderr

    def test_a_first_build_is_said_before_it_and_a_second_is_not(self):
        status, out, err = self.dev("fuzz", "2.5", "--list")
        self.assertEqual((status, err), (0, ""))
        self.assertEqual(out.splitlines(), [
            "dev: the first build in build/fuzz takes minutes (182 steps); later ones build what changed",
            "builds --build --preset fuzz",
            "fuzzes --minutes 2.5 --list"])
        status, out, err = self.dev("fuzz")
        self.assertEqual((status, out), (0, "builds --build --preset fuzz\nfuzzes --minutes 1\n"), err)

    def test_wrong_minutes_build_nothing(self):
        for minutes in ("nan", "inf", "-1", "0", "0.0", ".", "1e3", "ten"):
            status, out, err = self.dev("fuzz", minutes)
            self.assertEqual((status, out), (2, ""), minutes)
            self.assertIn(f"dev: fuzz: '{minutes}' is no number of minutes, such as 10 or 0.5", err)

    def test_arguments_that_nothing_takes(self):
        for command in (("cover", "x"), ("build", "release", "x"), ("format", "x"), ("format", "--check", "x")):
            status, out, err = self.dev(*command)
            self.assertEqual((status, out), (2, ""), command)
            self.assertIn(f"dev: {command[0]}: 'x' is one argument too many", err)


if __name__ == "__main__":
    unittest.main()
