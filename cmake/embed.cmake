# nalm_embed(<target> <symbol> <file>...): compiles the files, one after the other, into a std::string_view nalm::assets::<symbol>.
function(nalm_embed target symbol)
  set(output ${PROJECT_BINARY_DIR}/generated/assets/${symbol}.cpp)
  set(script ${PROJECT_SOURCE_DIR}/cmake/embed_script.cmake)
  add_custom_command(OUTPUT ${output}
                     COMMAND ${CMAKE_COMMAND} -Dsymbol=${symbol} "-Dfiles=${ARGN}" -Doutput=${output} -P ${script}
                     DEPENDS ${ARGN} ${script} VERBATIM)
  set_source_files_properties(${output} PROPERTIES SKIP_PRECOMPILE_HEADERS ON SKIP_UNITY_BUILD_INCLUSION ON)
  target_sources(${target} PRIVATE ${output})
endfunction()
