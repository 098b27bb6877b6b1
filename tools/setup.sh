#!/bin/sh
# Installs the Debian 12 packages of the named groups: build test interop lint bench
# (default: all).
# Quick when nothing is missing; package lists are fetched only when an installation needs them.
set -eu

build="g++ make cmake ninja-build ccache mold libboost-context1.81-dev libsimdjson-dev libicu-dev
  libyaml-dev libmimalloc-dev zlib1g-dev libssl-dev libnghttp2-dev unixodbc-dev libsqlite3-dev
  libpcre2-dev python3 python3-yaml curl"
test="doctest-dev libxml2-dev rapidjson-dev curl git tzdata openssl libsqliteodbc sqlite3
  odbc-postgresql postgresql python3-venv nghttp2-client
  python3-prometheus-client zsh fish"
lint="clang-19 clang-tidy-19 clang-format-19"
bench="libbenchmark-dev libpugixml-dev rapidjson-dev wrk nginx-light clang-19 libfuzzer-19-dev
  libclang-rt-19-dev valgrind libxml2-dev linux-perf"

# Clients that others wrote, which tests/interop runs, and what brings those of npm and Maven.
interop="python3-qpid-proton libqpid-proton-cpp12-dev python3-paho-mqtt python3-stomp
  mosquitto-clients tshark"
command -v node >/dev/null 2>&1 || interop="$interop nodejs"
command -v npm >/dev/null 2>&1 || interop="$interop npm"
command -v javac >/dev/null 2>&1 || interop="$interop default-jdk-headless"
command -v mvn >/dev/null 2>&1 || interop="$interop maven"

wanted=""
for group in ${*:-build test interop lint bench}; do
  case "$group" in
    interop) wanted="$wanted $interop" ;;
    build) wanted="$wanted $build" ;;
    test) wanted="$wanted $test" ;;
    lint) wanted="$wanted $lint" ;;
    bench) wanted="$wanted $bench" ;;
    *) echo "setup.sh: unknown group '$group' (build test interop lint bench)" >&2; exit 2 ;;
  esac
done

if ! command -v dpkg-query >/dev/null 2>&1; then
  echo "setup.sh: this is not Debian; install the equivalents of:$wanted" >&2
  exit 0
fi
have=$(dpkg-query -W -f='${Package} ${db:Status-Status}\n' 2>/dev/null | sed -n 's/ installed$//p')
missing=""
for package in $wanted; do
  printf '%s\n' "$have" | grep -qxF "$package" || missing="$missing $package"
done
[ -n "$missing" ] || exit 0

root=""
if [ "$(id -u)" != 0 ]; then
  if ! command -v sudo >/dev/null 2>&1; then
    echo "setup.sh: missing:$missing" >&2
    echo "setup.sh: run as root, or install sudo" >&2
    exit 1
  fi
  root=sudo
fi
install() {
  # RUNLEVEL=1: a server that a package brings (nginx) must not start and take a port.
  # shellcheck disable=SC2086
  $root env DEBIAN_FRONTEND=noninteractive RUNLEVEL=1 \
    apt-get install -y -q --no-install-recommends $missing
}
echo "Installing:$missing"
install || { $root apt-get update -q && install; }
