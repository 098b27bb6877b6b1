#!/bin/bash
# Builds the release binary and every micro-benchmark (*_bench.cc), runs them, then the tables and
# end-to-end ones (bench/*.py, bench/*.sh). Results: build/bench/*.txt. Only instructions.py fails
# when something became slower; docs/performance.md says how to read the others.
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
ninja -C build/release -j"$JOBS" millstream http_echo paced_load "${names[@]}"
for name in "${names[@]}"; do
  echo "=== $name"
  program=$(find build/release -name "$name" -type f -perm -u+x | head -1)
  "$program" | tee "build/bench/$name.txt"
done
if [ "$#" = 0 ]; then
  for script in bench/*.py bench/*.sh; do
    [ "$script" = bench/harness.py ] && continue
    echo "=== $(basename "$script")"
    "./$script" | tee "build/bench/$(basename "${script%.*}").txt"
  done
fi
