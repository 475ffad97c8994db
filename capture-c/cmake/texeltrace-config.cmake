# Targets: texeltrace::texeltrace, the shared library; texeltrace::static, the static one.
get_filename_component(_texeltrace_prefix "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)

if(NOT TARGET texeltrace::texeltrace)
  add_library(texeltrace::texeltrace SHARED IMPORTED)
  set_target_properties(texeltrace::texeltrace PROPERTIES
    IMPORTED_LOCATION "${_texeltrace_prefix}/lib/libtexeltrace.so"
    IMPORTED_NO_SONAME TRUE
    INTERFACE_INCLUDE_DIRECTORIES "${_texeltrace_prefix}/include")
endif()

if(NOT TARGET texeltrace::static)
  add_library(texeltrace::static STATIC IMPORTED)
  set_target_properties(texeltrace::static PROPERTIES
    IMPORTED_LOCATION "${_texeltrace_prefix}/lib/libtexeltrace.a"
    INTERFACE_INCLUDE_DIRECTORIES "${_texeltrace_prefix}/include"
    INTERFACE_LINK_LIBRARIES "pthread;dl;m")
endif()

unset(_texeltrace_prefix)
