#!/bin/sh
# Build and run the fuzz targets, one per reader:
#
#     scripts/fuzz.sh [SECONDS]           so long for each target (20)
#     scripts/fuzz.sh --runs N            so many executions of each target
#     scripts/fuzz.sh ... READER [...]    these targets only
#
# Prints the executions of each target and of all. Fails on a finding; the input that shows it
# is left in the build directory. Exit status 77: clang or its fuzzer runtime is absent.
set -eu
cd "$(dirname "$0")/.."
root=$(pwd)
limit="-max_total_time=20"
case ${1:-} in
--runs) limit="-runs=$2" && shift 2 ;;
[0-9]*) limit="-max_total_time=$1" && shift ;;
esac
build=${VEM_FUZZ_BUILD:-build-fuzz}
mkdir -p "$build"
build=$(cd "$build" && pwd)

compiler=${CC_FUZZ:-clang}
echo 'int LLVMFuzzerTestOneInput(const void *b, unsigned long n) { (void)b; return n > 9; }' \
    >"$build/probe.c"
if ! "$compiler" -fsanitize=fuzzer,address,undefined "$build/probe.c" -o "$build/probe" \
    2>"$build/probe.log"; then
    echo "Fuzzing was skipped: $compiler with its fuzzer runtime is not installed" \
        "(on Debian: apt install clang libclang-rt-dev)." >&2
    exit 77
fi

cmake -S . -B "$build" -DCMAKE_C_COMPILER="$compiler" -DCMAKE_BUILD_TYPE=Debug \
    -DVEM_SANITIZE=fuzzer-no-link,address,undefined -DVEM_FUZZ=ON -DVEM_TESTS=OFF \
    >"$build/configure.log"
targets=
for source in fuzz/fuzz_*.c; do
    name=$(basename "$source" .c)
    if [ $# -eq 0 ]; then
        targets="$targets ${name#fuzz_}"
    fi
done
[ $# -eq 0 ] || targets="$*"

jobs=${VEM_FUZZ_JOBS:-2}
executed=0
started=$(date +%s)
kept=
for reader in $targets; do
    if [ "$reader" = hdf5 ] && ! grep -q 'HDF5 ON' "$build/configure.log"; then
        echo "the hdf5 reader is not fuzzed: this build is without HDF5"
        continue
    fi
    kept="$kept $reader"
done
# shellcheck disable=SC2046,SC2086 # a word for each target
if ! cmake --build "$build" -j "$jobs" --target $(printf 'fuzz_%s ' $kept) \
    >"$build/build.log" 2>&1; then
    cat "$build/build.log" >&2
    exit 1
fi

# One target, to its log.
run_target() {
    corpus=$build/corpus-$1
    mkdir -p "$corpus"
    seeds=
    [ ! -d "fuzz/seeds/$1" ] || seeds=$root/fuzz/seeds/$1
    rm -f "$build/$1.failed"
    # shellcheck disable=SC2086 # no word, or one
    (cd "$build" && VEM_CPU=reference "fuzz/fuzz_$1" "$limit" -timeout=30 -rss_limit_mb=3000 \
        -malloc_limit_mb=2000 -max_len=4096 -artifact_prefix="$1-" -verbosity=0 \
        -print_final_stats=1 "$corpus" $seeds >"$1.log" 2>&1) || : >"$build/$1.failed"
}

running=0
for reader in $kept; do
    run_target "$reader" &
    running=$((running + 1))
    if [ "$running" -ge "$jobs" ]; then
        wait
        running=0
    fi
done
wait
for reader in $kept; do
    if [ -e "$build/$reader.failed" ]; then
        tail -n 40 "$build/$reader.log" >&2
        echo "The $reader reader failed; the input is beside $build/$reader.log." >&2
        exit 1
    fi
    runs=$(sed -n 's/.*number_of_executed_units: *\([0-9]*\).*/\1/p' "$build/$reader.log")
    echo "$reader: ${runs:-0} executions"
    executed=$((executed + ${runs:-0}))
done
echo "$executed executions in $(($(date +%s) - started)) s, building included; no finding"
