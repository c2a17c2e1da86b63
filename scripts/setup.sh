#!/bin/sh
# Installs what is missing, by group:  scripts/setup.sh [build] [mpi] [test] [lint] [bench]
#
# On Debian and Ubuntu through apt; a second run finds everything there and touches nothing,
# so it works without a network. Elsewhere it says what is needed and goes on.
set -eu

build="build-essential cmake pkg-config librandom123-dev
       libjansson-dev libzip-dev zlib1g-dev libhdf5-dev libcmocka-dev python3 python3-dev
       python3-setuptools python3-wheel python3-pip"
mpi="libopenmpi-dev openmpi-bin"
tests="$mpi clang libclang-rt-dev libomp-dev python3-numpy python3-sklearn python3-h5py python3-distributed
       python3-pytest python3-pandas python3-faiss python3-pil python3-tqdm
       gcc-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user-static abigail-tools"
lint="clang-format clang-tidy cppcheck shellcheck"
bench="$mpi iproute2 python3-numpy python3-scipy python3-pandas python3-sklearn python3-faiss
       python3-matplotlib python3-pil libvlfeat-dev zstd npm"

wanted=""
for group in "${@:-build}"; do
    case $group in
    build) wanted="$wanted $build" ;;
    mpi) wanted="$wanted $build $mpi" ;;
    test) wanted="$wanted $build $tests" ;;
    lint) wanted="$wanted $build clang libclang-rt-dev libomp-dev $lint" ;;
    bench) wanted="$wanted $build $bench" ;;
    *)
        echo "setup.sh: '$group' is not one of build, mpi, test, lint, bench." >&2
        exit 2
        ;;
    esac
done

if ! command -v apt-get >/dev/null 2>&1; then
    echo "This machine has no apt-get. Please install, under the names your system uses:" >&2
    echo "a C compiler with OpenMP, CMake 3.25 or newer, pkg-config," >&2
    echo "Random123, jansson, libzip, zlib, cmocka, Python 3 and, if you like, HDF5." >&2
    echo "(Debian calls them:$(echo " $wanted" | tr -s ' \n' ' '))" >&2
    exit 0
fi

missing=""
for package in $wanted; do
    state=$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null || true)
    case $state in
    installed*) continue ;;
    esac
    # npm may have come with another build of Node.js, beside which Debian's cannot be put.
    if [ "$package" = npm ] && command -v npm >/dev/null 2>&1; then
        continue
    fi
    case " $missing " in *" $package "*) ;; *) missing="$missing $package" ;; esac
done
[ -n "$missing" ] || exit 0

as_root=""
if [ "$(id -u)" -ne 0 ]; then
    if ! command -v sudo >/dev/null 2>&1; then
        echo "Not root, and there is no sudo. As root, please run:" >&2
        echo "    apt-get install --no-install-recommends$missing" >&2
        exit 1
    fi
    as_root=sudo
fi
echo "Missing Debian packages, to be installed with ${as_root:+sudo }apt-get:"
echo "   $missing" | fold -s -w 78
if [ -n "$as_root" ]; then
    echo "sudo may ask for your password; Ctrl-C leaves the machine as it is."
fi
$as_root env DEBIAN_FRONTEND=noninteractive apt-get -qq update </dev/null >/dev/null
# Releases differ a little in their names: what this one does not know is left out, and said.
known=""
for package in $missing; do
    if apt-cache show "$package" >/dev/null 2>&1; then
        known="$known $package"
    else
        echo "This release has no package $package; going on without it." >&2
    fi
done
# shellcheck disable=SC2086 # one word per package
[ -z "$known" ] || $as_root env DEBIAN_FRONTEND=noninteractive \
    apt-get -qq install -y --no-install-recommends $known </dev/null >/dev/null
