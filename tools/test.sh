#!/bin/bash
# All checks and tests, in lanes; stops at the first lane that fails. `tools/test.sh LANE...` runs
# only those (checks tools debug text release interop asan tsan). The last line is "N passed, N failed".
set -uo pipefail
cd "$(dirname "$0")/.." || exit 2
PYTHON=${PYTHON:-/usr/bin/python3}
JOBS=${JOBS:-$(nproc)}
LOGS=build/test-logs
mkdir -p "$LOGS"
passed=0
failed=0

# Adds up what the programs of a lane reported: doctest, unittest, and "N passed, N failed" lines.
count_results() {
  local p f
  read -r p f < <(sed -E 's/\x1b\[[0-9;]*m//g' "$1" | awk '
    /\[doctest\] test cases:/ { split($0, part, "|"); split(part[2], a, " "); split(part[3], b, " ")
                                p += a[1]; f += b[1]; next }
    /^Ran [0-9]+ tests? in /  { ran = $2; p += ran; next }
    /^FAILED \(/              { bad = 0; s = $0
                                while (match(s, /(failures|errors)=[0-9]+/)) {
                                  split(substr(s, RSTART, RLENGTH), kv, "="); bad += kv[2]
                                  s = substr(s, RSTART + RLENGTH) }
                                p -= bad; f += bad; next }
    /^[0-9]+ passed, [0-9]+ failed/ { p += $1; f += $3; next }
    /^check (ok|failed): /    { if ($2 == "ok:") p++; else f++ }
    END { print p + 0, f + 0 }')
  passed=$((passed + p))
  failed=$((failed + f))
}

finish() {
  echo
  echo "$passed passed, $failed failed"
  [ "$failed" = 0 ] && [ "$1" = 0 ]
  exit $?
}

# lane NAME TITLE FUNCTION
lane() {
  local started=$SECONDS log="$LOGS/$1.log"
  echo
  echo "=== $2"
  "$3" 2>&1 | tee "$log" | sed -E '/^(\[[0-9]+\/[0-9]+\]|-- )/d'
  local status=${PIPESTATUS[0]}
  count_results "$log"
  echo "--- $1: $((SECONDS - started)) s"
  if [ "$status" != 0 ]; then
    [ "$failed" = 0 ] && failed=1
    echo "*** lane '$1' failed; its whole output is in $log"
    finish 1
  fi
}

check() {  # check TITLE COMMAND...
  local title=$1
  shift
  if "$@"; then echo "check ok: $title"; else echo "check failed: $title"; return 1; fi
}

lane_checks() {
  check "generated files are current" "$PYTHON" tools/gen.py --check || return 1
  check "layers" "$PYTHON" tools/check_layers.py || return 1
  check "traps" "$PYTHON" tools/check_traps.py || return 1
  check "tidy" "$PYTHON" tools/tidy.py
}

lane_tools() { "$PYTHON" -B -m unittest discover -s tools/tests -t tools/tests; }

# A script that hangs says where (faulthandler prints its stacks at SIGABRT) and ends the lane.
run_script() { timeout --signal=ABRT --kill-after=10 900 "$PYTHON" -B -X faulthandler "$@"; }

configure() { [ -f "build/$1/build.ninja" ] || cmake --preset "$1" >/dev/null; }

# The unit-test binaries of these folders that exist (a folder without tests has none).
test_targets() {
  local preset=$1 name targets
  shift
  targets=$(ninja -C "build/$preset" -t targets all 2>/dev/null)
  for name in "$@"; do
    [[ $'\n'$targets == *$'\n'"${name}_test: "* ]] && echo "$name"
  done
  return 0
}

# run_ctest PRESET CTEST-ARGUMENTS...: doctest's own lines are counted, so -V goes to the log.
run_ctest() {
  local preset=$1
  shift
  ctest --test-dir "build/$preset" --output-on-failure -V --no-tests=error --timeout 600 "$@"
}

lane_debug() {
  configure debug && ninja -C build/debug -j"$JOBS" && run_ctest debug -j"$JOBS" -L fast
}

lane_text() {
  local program=build/debug/millstream
  if [ ! -x "$program" ]; then
    echo "no $program: skipped"
    return 0
  fi
  local folder folders=()
  for folder in tests/esql tests/flow tests/conformance tests/regress examples; do
    [ -d "$folder" ] && folders+=("$folder")
  done
  [ "${#folders[@]}" = 0 ] || "$program" test "${folders[@]}"
}

lane_release() {
  configure release && ninja -C build/release -j"$JOBS" || return 1
  check "command reference is current (make docs)" cmp docs/reference/commands.md \
    <(build/release/millstream --command-reference) || return 1
  local script
  for script in tests/http/run.py tests/http/attacks.py tests/sql/run.py tests/https/run.py tests/https/admin.py tests/observe/run.py tests/rest/run.py tests/queue/rest.py tests/cli/run.py tests/queue/commands.py tests/wire/ports.py tests/redeploy/run.py tests/async/run.py tests/demo/run.py tests/docs/run.py; do
    [ ! -f "$script" ] || run_script "$script" || return 1
  done
  [ ! -x examples/demo.sh ] || check "demo" examples/demo.sh
}

# Clients that others wrote; they are installed on the way (tools/setup.sh interop, npm, Maven).
lane_interop() {
  configure release && ninja -C build/release -j"$JOBS" millstream || return 1
  run_script tests/interop/run.py || return 1
  run_script tests/interop/kill.py --kills 5
}

# sanitizer PRESET FOLDER...: the unit tests of what touches outside bytes, or threads, and the
# program for the suites below.
sanitizer() {
  local preset=$1 names targets pattern
  shift
  configure "$preset" || return 1
  names=$(test_targets "$preset" "$@")
  [ -n "$names" ] || return 0
  targets=$(printf '%s_test ' $names)
  pattern="^($(printf '%s' "$names" | tr '\n' '|'))\$"
  # shellcheck disable=SC2086
  ninja -C "build/$preset" -j"$JOBS" $targets millstream && run_ctest "$preset" -R "$pattern"
}

lane_asan() {
  export ASAN_OPTIONS=detect_stack_use_after_return=0:strict_string_checks=1
  sanitizer asan base text io net value format http tree mqi model query queue parsers esql flow sql nodes ace \
    sim admin observe server flowtest cli &&
    build/asan/millstream test tests/esql tests/flow &&
    MILLSTREAM=$PWD/build/asan/millstream run_script tests/http/run.py
}

lane_tsan() {
  export TSAN_OPTIONS=halt_on_error=1
  sanitizer tsan base io net http flow sql nodes &&
    MILLSTREAM=$PWD/build/tsan/millstream run_script tests/http/run.py
}

titles() {
  case $1 in
    checks) echo "Generated files, layers, tidy" ;;
    tools) echo "Tests of the tools" ;;
    debug) echo "Debug build and unit tests" ;;
    text) echo "Text tests" ;;
    release) echo "Release build and end-to-end tests" ;;
    interop) echo "Clients that others wrote" ;;
    asan) echo "AddressSanitizer and UBSan" ;;
    tsan) echo "ThreadSanitizer" ;;
    *) echo "test.sh: unknown lane '$1' (checks tools debug text release interop asan tsan)" >&2; exit 2 ;;
  esac
}

for name in ${*:-checks tools debug text release interop asan tsan}; do
  title=$(titles "$name") || exit 2
  lane "$name" "$title" "lane_$name"
done
finish 0
