# find_package(nalm) after `cmake --install`; tests/install consumes it.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(package ${CMAKE_INSTALL_LIBDIR}/cmake/nalm)
set_target_properties(nalm_detail PROPERTIES EXPORT_NAME detail)
set_target_properties(nalm_bench PROPERTIES EXPORT_NAME bench)
set_target_properties(nalm_cli PROPERTIES EXPORT_NAME cli)
install(TARGETS nalm nalm_detail nalm_bench nalm_cli EXPORT nalmTargets
        OBJECTS DESTINATION ${CMAKE_INSTALL_LIBDIR}/nalm)
install(TARGETS nalm_program)
install(DIRECTORY include/nalm DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
# What kernels are made of, for modules of one's own. It mirrors src, and nothing about it is promised.
file(GLOB module_headers src/modules/*.hpp)
file(GLOB simd_headers src/simd/*.hpp)
install(FILES ${module_headers} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/nalm/detail/modules)
install(FILES ${simd_headers} ${PROJECT_BINARY_DIR}/generated/simd/compiled_targets.hpp
        DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/nalm/detail/simd)
install(FILES cmake/modules.cmake cmake/simd_targets.cmake cmake/module.cpp.in cmake/kernels.cpp.in cmake/registry.cpp.in
        DESTINATION ${package})
install(EXPORT nalmTargets NAMESPACE nalm:: DESTINATION ${package})
configure_package_config_file(cmake/nalmConfig.cmake.in ${PROJECT_BINARY_DIR}/nalmConfig.cmake INSTALL_DESTINATION ${package})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/nalmConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/nalmConfig.cmake ${PROJECT_BINARY_DIR}/nalmConfigVersion.cmake DESTINATION ${package})

# What the program says about itself, where shells and man look for it.
set(nalm_manual ${PROJECT_BINARY_DIR}/manual)
foreach(made "nalm.bash|completion bash" "_nalm|completion zsh" "nalm.fish|completion fish" "nalm.1|man")
  string(REGEX REPLACE "\\|.*" "" file ${made})
  string(REGEX REPLACE ".*\\|" "" command ${made})
  separate_arguments(command)
  add_custom_command(OUTPUT ${nalm_manual}/${file}
                     COMMAND ${CMAKE_COMMAND} -E make_directory ${nalm_manual}
                     COMMAND nalm_program ${command} > ${nalm_manual}/${file}
                     DEPENDS nalm_program VERBATIM)
  list(APPEND nalm_manual_files ${nalm_manual}/${file})
endforeach()
add_custom_target(nalm_manual ALL DEPENDS ${nalm_manual_files})
install(FILES ${nalm_manual}/nalm.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME nalm)
install(FILES ${nalm_manual}/_nalm DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
install(FILES ${nalm_manual}/nalm.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
install(FILES ${nalm_manual}/nalm.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
