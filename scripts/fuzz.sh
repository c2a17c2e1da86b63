#!/bin/sh
# Build and run the fuzz targets, one per reader: scripts/fuzz.sh [seconds per target] (20).
# Fails on a finding; the input that shows it is left in the build directory.
# Exit status 77: clang or its fuzzer runtime is absent.
set -eu
cd "$(dirname "$0")/.."
seconds=${1:-20}
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

flags="-std=gnu11 -D_GNU_SOURCE -DVEM_CSV_CHUNK=16 -g -O1 -fno-omit-frame-pointer
    -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all
    -Isrc -Iinclude -Ifuzz $(pkg-config --cflags libzip)"
sources="$(find src/base -name '*.c') src/data/data.c src/data/load.c
    $(find src/io -name '*.c' ! -name model_file.c ! -name stats_file.c)"

for target in fuzz/fuzz_*.c; do
    reader=$(basename "$target" .c)
    reader=${reader#fuzz_}
    # shellcheck disable=SC2046,SC2086 # lists of words
    "$compiler" $flags "$target" $sources $(pkg-config --libs libzip) -lm -fopenmp \
        -o "$build/$reader"
    mkdir -p "$build/corpus-$reader"
    echo "fuzzing the $reader reader for $seconds s"
    if ! (cd "$build" && "./$reader" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=3000 \
        -malloc_limit_mb=2000 -max_len=4096 -artifact_prefix="$reader-" -verbosity=0 \
        -print_final_stats=1 "corpus-$reader" "$OLDPWD/fuzz/seeds/$reader" \
        >"$reader.log" 2>&1); then
        tail -n 40 "$build/$reader.log" >&2
        echo "The $reader reader failed; the input is beside $build/$reader.log." >&2
        exit 1
    fi
    grep 'number_of_executed_units' "$build/$reader.log" || true
done
