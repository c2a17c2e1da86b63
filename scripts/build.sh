#!/bin/sh
# Configures and builds one preset, quietly unless it fails:  scripts/build.sh PRESET [JOBS]
set -eu
cd "$(dirname "$0")/.."
preset=${1:-release}
jobs=${2:-$(nproc 2>/dev/null || echo 2)}

echo "Building ($preset) ..."
log=$(mktemp)
trap 'rm -f "$log"' EXIT
if ! cmake --preset "$preset" >"$log" 2>&1; then
    cat "$log" >&2
    exit 1
fi
if ! cmake --build --preset "$preset" -j "$jobs" >"$log" 2>&1; then
    cat "$log" >&2
    exit 1
fi
