#!/bin/sh
# Tests the kernels of 64-bit ARM on another machine: cross-compiles the checks of
# tests/kernel_checks*.c and runs them under emulation (about a minute).
# Exit status 77: the tools are not there.
set -eu

cd "$(dirname "$0")/.."
compiler=${CROSS_CC:-aarch64-linux-gnu-gcc}
emulator=${EMULATOR:-qemu-aarch64-static}
for tool in "$compiler" "$emulator"; do
    if ! command -v "$tool" >/dev/null 2>&1; then
        echo "Skipped: $tool is not installed (Debian: gcc-aarch64-linux-gnu, qemu-user-static)."
        exit 77
    fi
done

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$compiler" -std=gnu11 -O2 -ffp-contract=fast -Wall -Wextra -static -Isrc -Iinclude -Itests \
    src/kernels/*.c tests/kernel_checks*.c tests/emulate/kernels_main.c -o "$work/kernels" -lm
"$emulator" "$work/kernels"
