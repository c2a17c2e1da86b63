#!/bin/sh
# Configures and builds one preset:  scripts/build.sh PRESET [JOBS]
#
# With MPI=1 in the environment for several processes, too.
#
# On a terminal a line says how far it is; elsewhere it is quiet unless it fails.
set -eu
cd "$(dirname "$0")/.."
preset=${1:-release}
jobs=${2:-$(nproc 2>/dev/null || echo 2)}

if [ -d "build" ] && [ -t 1 ]; then
    echo "Building ($preset) ..."
else
    echo "Building ($preset) ... (the first time this takes a few minutes)"
fi
log=$(mktemp)
trap 'rm -f "$log"' EXIT

fail() {
    cat "$log" >&2
    exit 1
}

mpi=OFF
[ "${MPI:-}" != 1 ] || mpi=ON
cmake --preset "$preset" -DVEM_MPI=$mpi >"$log" 2>&1 || fail
sed -n 's/^-- \(Python package: .*\)/\1/p' "$log"
if [ -t 1 ]; then
    # make numbers its lines, "[ 42%] Building C object ...": the number is the progress.
    { cmake --build --preset "$preset" -j "$jobs" 2>&1 || echo "build failed" >>"$log.failed"; } |
        tee "$log" | sed -un 's/^\[ *\([0-9]*\)%\].*/\1/p' |
        while read -r percent; do printf '\r  %3s %%' "$percent"; done
    printf '\r\033[K'
    if [ -e "$log.failed" ]; then
        rm -f "$log.failed"
        fail
    fi
else
    cmake --build --preset "$preset" -j "$jobs" >"$log" 2>&1 || fail
fi
