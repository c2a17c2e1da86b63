#!/usr/bin/env bash
# Does a program that was built with an earlier libvem.so.0 still run with this one?
#
#     scripts/abi.sh                compares with tests/abi/libvem.abi; status 1 where something changed
#     scripts/abi.sh --move HASH    from now on with the library of that commit (needs its history)
#
# tests/abi/commit has the hash of the commit that tests/abi/libvem.abi was made from. New functions
# are no change; a change that was meant is named in tests/abi/allowed.
#
# Only the files that define public functions are compiled, with debug information and without
# optimisation: abidw reads nothing else.
set -euo pipefail
cd "$(dirname "$0")/.."

if ! command -v abidiff >/dev/null || ! command -v abidw >/dev/null; then
    echo "abidiff and abidw are missing (Debian: abigail-tools)." >&2
    exit 77
fi
if [ "$(uname -m)" != x86_64 ]; then
    echo "tests/abi/libvem.abi is of x86_64." >&2
    exit 77
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# The interface of the sources in folder $1, as a shared library $2.
build() {
    local top=$1 output=$2 objects=$2.objects
    mkdir -p "$objects"
    # shellcheck disable=SC2016 # the inner shell expands
    grep -rlE '^[a-z][a-z0-9_ ]* \*?vem_([a-hj-z]|i[a-z])[a-z0-9_]*\(' --include='*.c' "$top/src" |
        while read -r source; do echo "$source $objects/o$(echo "$source" | tr / _).o"; done |
        xargs -n 2 -P "$(nproc)" sh -c 'exec "${CC:-cc}" -O0 -g -w -std=gnu11 -fPIC -fopenmp \
            -fvisibility=hidden -D_GNU_SOURCE -I"$0/src" -I"$0/include" -c "$1" -o "$2"' "$top"
    "${CC:-cc}" -shared -fopenmp -o "$output" "$objects"/*.o -Wl,-soname,libvem.so.0 \
        -Wl,--version-script=cmake/vem.map -Wl,--unresolved-symbols=ignore-all
}

# Types by their names, no paths and no lines: the file changes only where the interface does.
describe() {
    abidw --no-show-locs --no-corpus-path --no-comp-dir-path --no-elf-needed --drop-undefined-syms \
        --drop-private-types --headers-dir "$1/include" --type-id-style hash --out-file "$3" "$2"
}

if [ "${1:-}" = --move ]; then
    commit=$(git rev-parse --verify "$2^{commit}")
    mkdir "$work/then"
    git archive "$commit" src include | tar -x -C "$work/then"
    build "$work/then" "$work/then.so"
    describe "$work/then" "$work/then.so" tests/abi/libvem.abi
    echo "$commit" >tests/abi/commit
    exit
fi

build . "$work/now.so"
describe . "$work/now.so" "$work/now.abi"
status=0
abidiff --no-added-syms --suppressions tests/abi/allowed tests/abi/libvem.abi "$work/now.abi" ||
    status=$?
if [ "$status" -ne 0 ]; then
    echo "The interface is not that of $(cut -c1-7 tests/abi/commit) any more (abidiff: $status)."
    exit 1
fi
