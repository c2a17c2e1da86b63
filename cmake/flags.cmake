# Flags of our own code. Common code is built for the baseline of the machine's family, so that
# one binary runs anywhere; only src/kernels/kernels_*.c know an instruction set.

set(vem_warnings -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wstrict-prototypes
    -Wmissing-prototypes -Wvla)
if(CMAKE_C_COMPILER_ID MATCHES "Clang")
    # clang's also objects to an enum where an int is meant; gcc's is the one we keep to.
    list(APPEND vem_warnings -Wno-sign-conversion)
endif()
if(VEM_WERROR)
    list(APPEND vem_warnings -Werror)
endif()

set(vem_sanitize_flags "")
if(VEM_SANITIZE)
    set(vem_sanitize_flags -fsanitize=${VEM_SANITIZE} -fno-sanitize-recover=all)
    add_compile_definitions(VEM_SANITIZED)
endif()

add_library(vem_flags INTERFACE)
# Contraction is off so that the same source gives the same bits for every compiler and CPU.
target_compile_options(vem_flags INTERFACE ${vem_warnings} -ffp-contract=off)
if(VEM_SANITIZE) # -g1: reports need lines; full debug information takes a minute for one kernel
    target_compile_options(vem_flags INTERFACE
        -O1 -g1 -fno-omit-frame-pointer ${vem_sanitize_flags})
    target_link_options(vem_flags INTERFACE ${vem_sanitize_flags})
endif()

set(CMAKE_C_STANDARD 11)
set(CMAKE_C_EXTENSIONS ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

# Drops kernels of other machines from the list and gives each kept one its flags.
function(vem_kernels_for_this_cpu list_name)
    set(kept "")
    foreach(source IN LISTS ${list_name})
        set(isa "")
        if(source MATCHES "kernels_(avx2|avx512)\\.c$")
            if(NOT CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64|amd64)$")
                continue()
            endif()
            set(isa -mavx2 -mfma -mf16c)
            if(source MATCHES "avx512")
                set(isa -mavx512f -mavx512dq -mavx512vl -mavx512bw -mfma -mf16c)
            endif()
        elseif(source MATCHES "kernels_neon\\.c$")
            if(NOT CMAKE_SYSTEM_PROCESSOR MATCHES "^(aarch64|arm64)$")
                continue()
            endif()
        endif()
        # Kernels are optimised in every build: a debug build would otherwise crawl.
        set(level -O3)
        if(VEM_SANITIZE)
            set(level -O1 -g1)
            if(source MATCHES "kernels_avx")
                # The same text as kernels_baseline.c, in which undefined behaviour is looked for.
                list(APPEND level -fno-sanitize=undefined)
            endif()
        endif()
        if(VEM_FUZZ AND NOT source MATCHES "kernels_ref\\.c$")
            # Readers are fuzzed on the reference; these take minutes to instrument.
            set(level -O1 -fno-sanitize=all)
        endif()
        set_source_files_properties(${source} PROPERTIES COMPILE_OPTIONS
            "${level};-ffp-contract=fast;-Wno-conversion;-Wno-pedantic;${isa}")
        list(APPEND kept ${source})
    endforeach()
    set(${list_name} ${kept} PARENT_SCOPE)
endfunction()
