# Headers, both libraries, command, manual pages, completion, pkg-config file and CMake package.

include(CMakePackageConfigHelpers)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/vem)

install(DIRECTORY include/vem DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h")
install(TARGETS vem EXPORT vemTargets
        RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR}
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(TARGETS vem_static ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
if(TARGET vem_command)
    # The installed command finds the library beside itself, wherever the prefix is.
    file(RELATIVE_PATH libdir_from_bindir ${CMAKE_INSTALL_FULL_BINDIR}
         ${CMAKE_INSTALL_FULL_LIBDIR})
    set_target_properties(vem_command PROPERTIES INSTALL_RPATH "$ORIGIN/${libdir_from_bindir}")
    install(TARGETS vem_command RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()
if(TARGET vem_command)
    install(FILES docs/vem.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
    include(cmake/pages.cmake)
endif()
install(FILES docs/libvem.3 DESTINATION ${CMAKE_INSTALL_MANDIR}/man3)

install(EXPORT vemTargets NAMESPACE vem:: DESTINATION ${package_dir})
configure_package_config_file(cmake/vemConfig.cmake.in vemConfig.cmake
                              INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(vemConfigVersion.cmake COMPATIBILITY SameMajorVersion)
install(FILES ${PROJECT_BINARY_DIR}/vemConfig.cmake ${PROJECT_BINARY_DIR}/vemConfigVersion.cmake
        DESTINATION ${package_dir})

# HDF5 by its flags: where it is required, programs get the folder of its headers, which they have no use for.
set(vem_requires_private "jansson libzip zlib")
set(vem_hdf5_flags "")
if(VEM_HAVE_HDF5)
    list(JOIN HDF5_STATIC_LDFLAGS " " vem_hdf5_flags)
endif()
# Relative, so that the file is right wherever the prefix is moved to.
file(RELATIVE_PATH prefix_from_pc ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
string(REGEX REPLACE "/$" "" prefix_from_pc "${prefix_from_pc}")
configure_file(vem.pc.in vem.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/vem.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
