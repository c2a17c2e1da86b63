#!/usr/bin/env bash
# Every test:  scripts/test.sh [JOBS]
#
# The release build, the sanitizer builds, the interface beside an earlier one, short fuzz runs
# and the NEON kernels under emulation. The last line is "N passed, N failed" (and ", N skipped" where something was);
# the same line is left in build/totals. Status 1 when anything failed.
set -uo pipefail
cd "$(dirname "$0")/.." || exit
jobs=${1:-$(nproc 2>/dev/null || echo 2)}
passed=0 failed=0 skipped=0
failures=()

say() { printf '\n== %s\n' "$*"; }

# One number of a JUnit file's <testsuite> element.
count() { tr '\n' ' ' <"$1" | sed -n "s/.*<testsuite [^>]*[ \t]$2=\"\([0-9]*\)\".*/\1/p"; }

# A preset: build it, run its tests, add up what its JUnit file says.
run_preset() {
    local preset=$1 directory=$2 start=$SECONDS
    say "$preset: build"
    if ! scripts/build.sh "$preset" "$jobs"; then
        failed=$((failed + 1))
        failures+=("$preset: the build")
        return
    fi
    say "$preset: tests (built in $((SECONDS - start)) s)"
    rm -f "$directory/junit.xml"
    ctest --preset "$preset" -j "$jobs" --output-junit junit.xml
    if [ ! -s "$directory/junit.xml" ]; then
        failed=$((failed + 1))
        failures+=("$preset: no test ran")
        return
    fi
    local all bad out
    all=$(count "$directory/junit.xml" tests)
    bad=$(count "$directory/junit.xml" failures)
    out=$(count "$directory/junit.xml" skipped)
    passed=$((passed + all - bad - out))
    failed=$((failed + bad))
    skipped=$((skipped + out))
    [ "$bad" -eq 0 ] || failures+=("$preset: $bad of $all tests")
}

# A script that is one test: 0 passed, 77 skipped, anything else failed.
run_script() {
    say "$*"
    "$@"
    case $? in
    0) passed=$((passed + 1)) ;;
    77) skipped=$((skipped + 1)) ;;
    *)
        failed=$((failed + 1))
        failures+=("$*")
        ;;
    esac
}

run_preset release build
run_preset asan-ubsan build-asan
run_preset tsan build-tsan
run_script scripts/abi.sh
run_script scripts/fuzz.sh 6
run_script scripts/test-neon.sh

say "after $((SECONDS / 60)) min $((SECONDS % 60)) s"
for failure in "${failures[@]+"${failures[@]}"}"; do
    echo "FAILED  $failure"
done
totals="$passed passed, $failed failed"
[ "$skipped" -eq 0 ] || totals="$totals, $skipped skipped"
mkdir -p build
echo "$totals" >build/totals
# .ci/run says it itself, after everything else.
[ -n "${VEM_TOTALS_LATER:-}" ] || echo "$totals"
[ "$failed" -eq 0 ]
