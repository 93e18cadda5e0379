#!/usr/bin/env bash
# Builds the fuzz targets as OSS-Fuzz and ClusterFuzzLite want them, for any of their engines and sanitizers:
#
#   $CC $CXX $CFLAGS $CXXFLAGS $LIB_FUZZING_ENGINE   given by them
#   $OUT/NAME  NAME_seed_corpus.zip  NAME.dict  NAME.options
#
#   build.sh [TARGET...]       without any: all but steps_on_backend, which takes a backend that the user names
#
# Needs the packages of ./Dockerfile. WORK is for what the build leaves behind.
set -euo pipefail
fuzz=$(cd "$(dirname "$(readlink -f "$0")")/.." && pwd)
: "${CC:?}" "${CXX:?}" "${OUT:?}" "${LIB_FUZZING_ENGINE:?}"
work=${WORK:-$OUT/work}

# The libraries of the distribution are built with its own C++ library, and so must the targets be.
export CXXFLAGS=${CXXFLAGS:-}
CXXFLAGS=${CXXFLAGS//-stdlib=libc++/}

cmake -S "$fuzz/.." -B "$work/plumbline" -G Ninja -DCMAKE_BUILD_TYPE= -DCMAKE_C_COMPILER="$CC" \
  -DCMAKE_CXX_COMPILER="$CXX" -DPLUMBLINE_FUZZING_ENGINE="$LIB_FUZZING_ENGINE" -DPLUMBLINE_FUZZ_OUT="$OUT" \
  -DPLUMBLINE_TORCH=OFF -DPLUMBLINE_PERF=OFF -DBUILD_TESTING=OFF -DCMAKE_EXE_LINKER_FLAGS='-Wl,-rpath,$ORIGIN/lib' \
  >"$work.configure.log" 2>&1 || {
  cat "$work.configure.log" >&2
  exit 1
}

if (($# == 0)); then
  for source in "$fuzz"/targets/*.cc; do
    [[ $source == */steps_on_backend.cc ]] || set -- "$@" "$(basename "$source" .cc)"
  done
fi
mkdir -p "$OUT/lib"
for name; do
  cmake --build "$work/plumbline" --target "$name" -- ${PLUMBLINE_JOBS:+-j"$PLUMBLINE_JOBS"}
  # What the machine that runs them may lack.
  ldd "$OUT/$name" | awk '/lib(fmt|stdc\+\+|gcc_s)\./ {print $3}' | xargs -r cp -n -t "$OUT/lib"
  find "$fuzz/corpus/$name" -type f -print0 | xargs -0 zip -q -j "$OUT/${name}_seed_corpus.zip"
  [[ -e $fuzz/dictionaries/$name.dict ]] && cp "$fuzz/dictionaries/$name.dict" "$OUT/$name.dict"
  cp "$fuzz/oss-fuzz/target.options" "$OUT/$name.options"
done
