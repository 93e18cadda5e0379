"""Installs this build and uses it as a stranger would.

The installed `plumbline new-adapter` writes an adapter; it is configured with find_package(Plumbline), built, and the
installed `plumbline check` fails nothing on it and says what comes next. A program against Plumbline::reference is
built and run beside it, and so is the OpenCL device, where this build has one, out of its folder alone.

    consumer_test.py --build build/release --cmake cmake --compiler c++
"""

import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent


def run(command, expect=0):
    # A build folder's environment must not help the installed program to find things.
    environment = {k: v for k, v in os.environ.items() if not k.startswith("PLUMBLINE_")}
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True, env=environment)
    if done.returncode != expect:
        sys.exit(f"{' '.join(map(str, command))}\nleft with {done.returncode}, not {expect}\n{done.stdout}{done.stderr}")
    return done.stdout, done.stderr


def expect_in(text, *words):
    for word in words:
        if word not in text:
            sys.exit(f"expected {word!r} in\n{text}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", required=True)
    parser.add_argument("--cmake", default="cmake")
    parser.add_argument("--compiler", default="c++")
    args = parser.parse_args()

    def build(source, folder):
        run([args.cmake, "-S", source, "-B", folder, f"-DCMAKE_PREFIX_PATH={prefix}",
             f"-DCMAKE_CXX_COMPILER={args.compiler}", "-DCMAKE_BUILD_TYPE=Debug"])
        run([args.cmake, "--build", folder])

    with tempfile.TemporaryDirectory() as scratch:
        scratch = pathlib.Path(scratch)
        prefix = scratch / "prefix"
        run([args.cmake, "--install", args.build, "--prefix", prefix])
        plumbline = prefix / "bin" / "plumbline"

        adapter = scratch / "my-device"
        out, _ = run([plumbline, "new-adapter", adapter])
        expect_in(out, f"-DCMAKE_PREFIX_PATH={prefix}", "plumbline check --backend", "my_device.so")
        build(adapter, adapter / "build")
        out, _ = run([plumbline, "check", "--backend", adapter / "build" / "my_device.so", "--tier", "quick"])
        expect_in(out, "my_device", "next: claim core")
        _, err = run([plumbline, "new-adapter", adapter], expect=2)
        expect_in(err, "already")

        # What it says of a clause can be opened, and what is installed is named as it lies there.
        out, _ = run([plumbline, "list", "--clause", "RES-030"])
        places = [line.split(":")[0].strip() for line in out.splitlines() if re.match(r"  \S+\.(scn|md|h|cc):\d+", line)]
        for place in places:
            if not pathlib.Path(place).exists():
                sys.exit(f"{place} is not there\n{out}")
        expect_in(out, f"{prefix}/share/plumbline/clauses/", f"{prefix}/share/plumbline/corpus/")

        build(HERE, scratch / "consumer")
        out, _ = run([scratch / "consumer" / "consumer"])
        expect_in(out, "demo::first", "CUDA")

        # Of a device nothing is taken from the tree but its own folder.
        if (pathlib.Path(args.build) / "lib/plumbline/devices/libplumbline_opencl.so").exists():
            device = scratch / "device" / "kernels" / "opencl"
            shutil.copytree(HERE.parents[2] / "kernels" / "opencl", device)
            build(device, scratch / "device" / "build")
            out, _ = run([plumbline, "probe", "--backend", "reference", "--device", "privateuseone", "--calls", "2",
                          "--load", scratch / "device" / "build" / "libplumbline_opencl.so",
                          "-f", "neg", "-f", "add.Tensor", "-f", "transpose.int"])
            expect_in(out, "3 operators: 3 right")
    print("ok")


if __name__ == "__main__":
    main()
