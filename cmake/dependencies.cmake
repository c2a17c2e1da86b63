# What the library stands on. Everything is private: users of vem.h need none of it.

find_package(OpenMP REQUIRED COMPONENTS C)
find_package(PkgConfig REQUIRED)
pkg_check_modules(JANSSON REQUIRED IMPORTED_TARGET jansson)
pkg_check_modules(LIBZIP REQUIRED IMPORTED_TARGET libzip)
pkg_check_modules(ZLIB REQUIRED IMPORTED_TARGET zlib)

# Random123 is headers only.
find_path(VEM_RANDOM123_INCLUDE Random123/philox.h REQUIRED)
mark_as_advanced(VEM_RANDOM123_INCLUDE)

add_library(vem_dependencies INTERFACE)
target_include_directories(vem_dependencies SYSTEM INTERFACE ${VEM_RANDOM123_INCLUDE})
target_link_libraries(vem_dependencies INTERFACE
    PkgConfig::LIBZIP PkgConfig::ZLIB PkgConfig::JANSSON OpenMP::OpenMP_C m)

set(VEM_HAVE_HDF5 OFF)
if(NOT VEM_HDF5 STREQUAL "OFF")
    pkg_search_module(HDF5 QUIET IMPORTED_TARGET hdf5 hdf5-serial)
    if(HDF5_FOUND)
        set(VEM_HAVE_HDF5 ON)
        target_compile_definitions(vem_dependencies INTERFACE VEM_HAVE_HDF5=1)
        target_link_libraries(vem_dependencies INTERFACE PkgConfig::HDF5)
    elseif(VEM_HDF5 STREQUAL "ON")
        message(FATAL_ERROR "VEM_HDF5 is ON, but pkg-config finds no hdf5.")
    endif()
endif()
if(VEM_MPI)
    find_package(MPI REQUIRED COMPONENTS C)
    target_compile_definitions(vem_dependencies INTERFACE VEM_HAS_MPI)
    target_link_libraries(vem_dependencies INTERFACE MPI::MPI_C)
endif()
message(STATUS "vem ${PROJECT_VERSION}: HDF5 ${VEM_HAVE_HDF5}, MPI ${VEM_MPI}")
