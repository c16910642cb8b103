# find_package(nalm) after `cmake --install`; tests/install consumes it.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

install(TARGETS nalm EXPORT nalmTargets)
install(TARGETS nalm_program)
install(DIRECTORY include/nalm DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(EXPORT nalmTargets NAMESPACE nalm:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/nalm)
configure_package_config_file(cmake/nalmConfig.cmake.in ${PROJECT_BINARY_DIR}/nalmConfig.cmake
                              INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/nalm)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/nalmConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/nalmConfig.cmake ${PROJECT_BINARY_DIR}/nalmConfigVersion.cmake
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/nalm)
