#!/bin/bash
# Builds the release binary and every micro-benchmark (*_bench.cc), runs them, then the end-to-end
# ones (bench/*.sh). Results: build/bench/*.txt. Nothing here is a pass/fail test;
# docs/performance.md says how to read the figures.
# `tools/bench.sh NAME...` runs only those micro-benchmarks.
set -euo pipefail
cd "$(dirname "$0")/.."
JOBS=${JOBS:-$(nproc)}
[ -f build/release/build.ninja ] || cmake --preset release
names=("$@")
if [ "${#names[@]}" = 0 ]; then
  mapfile -t names < <(git ls-files 'src/*_bench.cc' 'bench/*_bench.cc' | xargs -r -n1 basename -s .cc)
fi
mkdir -p build/bench
ninja -C build/release -j"$JOBS" millstream "${names[@]}"
for name in "${names[@]}"; do
  echo "=== $name"
  program=$(find build/release -name "$name" -type f -perm -u+x | head -1)
  "$program" | tee "build/bench/$name.txt"
done
if [ "$#" = 0 ]; then
  for script in bench/*.sh; do
    echo "=== $(basename "$script")"
    bash "$script" | tee "build/bench/$(basename "$script" .sh).txt"
  done
fi
