# Thin: the build is CMake, the work is in scripts/. See README.md and CONTRIBUTING.md.

PREFIX ?= /usr/local
DESTDIR ?=
JOBS ?= $(shell nproc 2>/dev/null || echo 2)

.PHONY: all build demo test test-quick bench lint format man reference abi fuzz repro install clean

all: build

# With MPI=1: fits over several processes, by mpirun.
export MPI

build:
	@scripts/setup.sh build $(if $(filter 1,$(MPI)),mpi)
	@scripts/build.sh release $(JOBS)

demo: build
	@scripts/demo.sh

test:
	@scripts/setup.sh test
	@scripts/test.sh $(JOBS)

# The release tests alone, for the inner loop of work.
test-quick: build
	@ctest --preset release -j $(JOBS)

lint:
	@scripts/setup.sh lint
	@scripts/lint.sh $(JOBS)

format:
	@scripts/lint.sh --format

# Manual pages: of the command, from the same tables as its help; of the library, from its headers.
man: build
	@build/vem --man >docs/vem.1.part && mv docs/vem.1.part docs/vem.1
	@python3 scripts/reference.py --man >docs/libvem.3.part && mv docs/libvem.3.part docs/libvem.3

# HTML from the comments of the public headers; what has none is an error.
reference:
	@command -v doxygen >/dev/null || { echo "make reference needs doxygen." >&2; exit 1; }
	@mkdir -p build && doxygen Doxyfile && echo "build/reference/html/index.html"

# The interface of the library beside that of an earlier commit (tests/abi/commit).
abi:
	@scripts/setup.sh test
	@scripts/abi.sh

# Hours on two cores; PART="iterations targets front clusters", or some of them.
bench:
	@scripts/setup.sh bench
	@scripts/build.sh release $(JOBS)
	@bench/run.sh $(PART)

fuzz:
	@scripts/setup.sh test
	@scripts/fuzz.sh 60

repro:
	@scripts/setup.sh bench
	@scripts/build.sh release $(JOBS)
	@repro/run.sh

install: build
	@cmake -S . -B build -DCMAKE_INSTALL_PREFIX="$(PREFIX)" >/dev/null
	@cmake --build build -j $(JOBS) >/dev/null
	DESTDIR="$(DESTDIR)" cmake --install build

clean:
	rm -rf build build-debug build-asan build-tsan build-fuzz build-neon demo
