# Modules from lists, in this tree and in programs of one's own: a list has a line per module, and from it come, for each
# module, one source without SIMD and one per instruction set, and the registry that the program walks.
#
#   nalm_add_modules(my_modules modules.list)      # a library to link instead of nalm::nalm: it has these modules too
#   nalm_add_program(my_nalm my_modules)           # the program nalm, with these modules

# nalm_compile_modules(<prefix> <list file>): object libraries with the modules of a list, their names in <prefix>_objects,
# the names of the types in <prefix>_types. Headers are looked for beside the list first.
function(nalm_compile_modules prefix list_file)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${list_file})
  get_filename_component(folder ${list_file} DIRECTORY)
  file(STRINGS ${list_file} lines REGEX "^[^#]")
  set(types "")
  set(plain "")
  set(kernels "")
  foreach(line ${lines})
    # The third word is the type whose kernels serve this one too.
    if(NOT line MATCHES "^([^ ]+) +([A-Za-z0-9_]+)( +([A-Za-z0-9_]+))?$")
      message(FATAL_ERROR "${list_file}: \"${line}\" should be a header and a type, such as: nau.hpp Nau")
    endif()
    set(header ${CMAKE_MATCH_1})
    set(type ${CMAKE_MATCH_2})
    set(kernel_type ${CMAKE_MATCH_2})
    if(CMAKE_MATCH_4)
      set(kernel_type ${CMAKE_MATCH_4})
    endif()
    list(APPEND types ${type})
    configure_file(${CMAKE_CURRENT_FUNCTION_LIST_DIR}/module.cpp.in ${prefix}/${type}.cpp @ONLY)
    list(APPEND plain ${CMAKE_CURRENT_BINARY_DIR}/${prefix}/${type}.cpp)
    if(type STREQUAL kernel_type)
      configure_file(${CMAKE_CURRENT_FUNCTION_LIST_DIR}/kernels.cpp.in ${prefix}/${type}_kernels.cpp @ONLY)
      list(APPEND kernels ${CMAKE_CURRENT_BINARY_DIR}/${prefix}/${type}_kernels.cpp)
    endif()
  endforeach()
  # Several modules per compilation: the headers take longer than a module.
  add_library(${prefix}_plain OBJECT ${plain})
  set_target_properties(${prefix}_plain PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 22)
  # Formulas and explanations, nothing that is trained with.
  target_compile_options(${prefix}_plain PRIVATE $<$<CONFIG:Release>:-O1>)
  target_link_libraries(${prefix}_plain PRIVATE nalm::detail $<TARGET_NAME_IF_EXISTS:nalm_settings>)
  set(objects ${prefix}_plain)
  foreach(target ${NALM_SIMD_TARGETS})
    nalm_simd_object(${prefix}_${target} ${target} ${kernels})
    set_target_properties(${prefix}_${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 20)
    list(APPEND objects ${prefix}_${target})
  endforeach()
  foreach(object ${objects})
    target_include_directories(${object} BEFORE PRIVATE ${folder})
  endforeach()
  set(${prefix}_types ${types} PARENT_SCOPE)
  set(${prefix}_objects ${objects} PARENT_SCOPE)
endfunction()

# nalm_registry(<prefix> <type>...): the object library <prefix>_registry with the list of these modules.
function(nalm_registry prefix)
  set(declarations "")
  set(entries "")
  foreach(type ${ARGN})
    string(APPEND declarations "extern const ModuleEntry entry_${type};\n")
    string(APPEND entries "      &entry_${type},\n")
  endforeach()
  configure_file(${CMAKE_CURRENT_FUNCTION_LIST_DIR}/registry.cpp.in ${prefix}/registry.cpp @ONLY)
  add_library(${prefix}_registry OBJECT ${CMAKE_CURRENT_BINARY_DIR}/${prefix}/registry.cpp)
  target_link_libraries(${prefix}_registry PRIVATE nalm::detail $<TARGET_NAME_IF_EXISTS:nalm_settings>)
endfunction()

# nalm_add_modules(<name> <list file>): the library <name> is nalm::nalm with the modules of the list beside its own. A
# program links one such library. Lines of the list: a header, and the type that it defines.
function(nalm_add_modules name list_file)
  get_filename_component(list_file ${list_file} ABSOLUTE)
  nalm_compile_modules(${name} ${list_file})
  get_target_property(library_types nalm::nalm NALM_MODULE_TYPES)
  foreach(type ${${name}_types})
    if(type IN_LIST library_types)
      message(FATAL_ERROR "${list_file}: the library has a module of type ${type} already; choose another name.")
    endif()
  endforeach()
  nalm_registry(${name} ${library_types} ${${name}_types})
  # Objects stand before libraries on the linker's command line, so this registry is found before the library's own.
  add_library(${name} INTERFACE)
  foreach(object ${${name}_objects} ${name}_registry)
    target_sources(${name} INTERFACE $<TARGET_OBJECTS:${object}>)
  endforeach()
  target_link_libraries(${name} INTERFACE nalm::nalm)
endfunction()

# nalm_add_program(<name> <modules>): the program nalm with the modules of a library that nalm_add_modules made.
function(nalm_add_program name modules)
  find_package(SQLite3 REQUIRED)  # where results are kept
  add_executable(${name} $<TARGET_OBJECTS:nalm::cli>)
  set_target_properties(${name} PROPERTIES LINKER_LANGUAGE CXX)
  target_link_libraries(${name} PRIVATE ${modules} nalm::bench nalm::nalm)
endfunction()
