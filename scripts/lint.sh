#!/usr/bin/env bash
# Everything that is judged without running it:  scripts/lint.sh [JOBS] | --format
#
# VEM_LINT_NODES: how far clang's analyzer follows a function (50,000 states; its own default of
# 225,000 takes five times as long).
# Format, layers, constants, length and marks, comments of the public headers, shell scripts,
# cppcheck, clang-tidy. With --format the C files are rewritten instead. Status 1 when anything is wrong; all checks run in any case.
# shellcheck disable=SC2317 # the checks are called by name, through check
set -uo pipefail
cd "$(dirname "$0")/.." || exit

find_c() {
    find include src cli python tests fuzz bench repro examples \
        -name '*.[ch]' -o -name '*.inc' -o -name '*.cpp'
}

if [ "${1:-}" = --format ]; then
    find_c | xargs clang-format -i
    exit
fi
jobs=${1:-$(nproc 2>/dev/null || echo 2)}
python=/usr/bin/python3
[ -x $python ] || python=python3
wrong=0

# check NAME COMMAND...: runs it, shows what it says only when it fails.
check() {
    local name=$1 start=$SECONDS
    shift
    local output
    if output=$("$@" 2>&1); then
        printf '  ok    %-12s %3d s\n' "$name" $((SECONDS - start))
    else
        printf '  WRONG %-12s %3d s\n%s\n' "$name" $((SECONDS - start)) "$output"
        wrong=1
    fi
}

format() { find_c | xargs clang-format --dry-run -Werror; }

shell() {
    command -v shellcheck >/dev/null || return 0
    shellcheck .ci/run scripts/*.sh examples/parts.sh examples/parts.slurm
}

lengths() {
    # vem.h is one page: the rules, the nouns and the table of options.
    find src cli python tests fuzz bench repro examples scripts \
        \( -name '*.[ch]' -o -name '*.inc' -o -name '*.py' -o -name '*.sh' \) \
        -exec wc -l {} + |
        awk '$2 != "total" && $1 > 500 { print $2 ": " $1 " lines; the limit is 500."; bad = 1 }
             END { exit bad }'
}

marks() {
    ! grep -rnE '\b(TODO|FIXME|XXX|HACK)\b' --include='*.[ch]' --include='*.inc' \
        --include='*.py' --include='*.md' --include='CMakeLists.txt' --include='*.cmake' \
        include src cli python tests fuzz bench repro examples docs cmake ./*.md CMakeLists.txt
}

# What a comment or a page points at is in the repository.
references() {
    local bad=0 place target
    while IFS=: read -r place target; do
        [ -e "$target" ] || [ -e "$(dirname "$place")/$target" ] || [ -e "src/$target" ] ||
            { echo "$place: there is no $target."; bad=1; }
    done < <({
        grep -roHE '\b(docs|bench|repro|examples|scripts|tests)/[A-Za-z0-9_/.-]+\.(md|py|sh|c|h)\b' \
            include src cli tests fuzz examples scripts docs .ci ./*.md
        # Sources, also as #include lines name them; faults.md and libvem.abi speak of trees of then.
        grep -roHE '\b(src/[a-z]+|cli|python/src|base|kernels|comm|data|model|coarse|io|search|seed|em|moves|metrics|use|fit|select|api)/[a-z_0-9]+\.(c|h|inc)\b' \
            --exclude=faults.md --exclude=libvem.abi include src cli tests fuzz examples scripts docs ./*.md
        grep -roHE '\]\([A-Za-z0-9_/.-]+\.(md|c|h|svg)' --include='*.md' . | sed 's/](//'
        grep -rnowE '(METHODS|INTERFACE|DESIGN|STYLE|PERFORMANCE)\.md|METHODS [0-9.]+' \
            include src cli tests fuzz examples docs ./*.md | sed 's/:[0-9]*:/:/'
    } | sort -u)
    # Sources that are named without their folder: somewhere there is such a file.
    while IFS=: read -r place target; do
        echo "$place: there is no $target."; bad=1
    done < <(grep -roHP '(?<![A-Za-z0-9_/.<*-])[a-z][a-z0-9_]+\.(c|h|inc)\b' \
                 --include='*.[ch]' --include='*.inc' --include='*.md' --exclude=faults.md \
                 --exclude=install.md include src cli python tests fuzz examples docs ./*.md |
             sort -u | awk -F: 'NR == FNR { known[$1] = 1; next } !($2 in known)' \
                 <(git ls-files '*.c' '*.h' '*.inc' | sed 's|.*/||') -)
    return "$bad"
}

cppcheck_all() {
    cppcheck --quiet -j "$jobs" --std=c11 --error-exitcode=1 --inline-suppr \
        --enable=warning,performance,portability --suppressions-list=scripts/cppcheck.txt \
        --library=posix --max-configs=1 -I include -I src -I cli -I python/src \
        src cli python/src examples
}

tidy_files() { # from standard input; further arguments go to clang-tidy
    local nodes=max-nodes=${VEM_LINT_NODES:-50000} argument
    local deep=()
    for argument in -Xclang -analyzer-config -Xclang "$nodes"; do
        deep+=("--extra-arg=$argument")
    done
    xargs -n 3 -P "$jobs" clang-tidy --quiet -p build "${deep[@]}" "$@" 2>&1 |
        grep -vE '^[0-9]+ warnings? (generated|treated)|^Suppressed|^Use -header-filter'
    return "${PIPESTATUS[0]}"
}

tidy() {
    cmake --preset release >/dev/null || return
    # Of the kernels only the reference is read: the others are one text compiled many times,
    # and the tests hold each of them against the reference.
    find src -name '*.c' ! -name 'kernels_avx*' ! -name 'kernels_neon*' \
        ! -name 'kernels_base*' ! -path src/base/run.c |
        tidy_files --extra-arg=-include "--extra-arg=$PWD/scripts/analyzer.h"
    local library=$?
    find cli examples python src/base/run.c -name '*.c' | tidy_files
    local rest=$?
    [ "$library" -eq 0 ] && [ "$rest" -eq 0 ]
}

echo "lint"
check format format
check layers $python tests/layers.py
check constants $python bench/constants.py --check
check lengths lengths
check marks marks
check references references
check reference $python scripts/reference.py --check
check shell shell
check cppcheck cppcheck_all
check clang-tidy tidy
exit $wrong
