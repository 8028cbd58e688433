# Puts files into the program. Included, it has the function
#   slide_embed(NAME HEADER NAMESPACE FILE ...)
# which makes NAME.cpp in the build folder and appends it to `embedded_sources`: the std::string_view NAME() that HEADER
# declares in NAMESPACE holds the bytes of the files, one behind the other. Run as a script, it writes such a source.
if(NOT CMAKE_SCRIPT_MODE_FILE)
  set(slide_embed_script ${CMAKE_CURRENT_LIST_FILE} CACHE INTERNAL "Writes sources that hold files")
  function(slide_embed name header namespace)
    set(source ${CMAKE_CURRENT_BINARY_DIR}/${name}.cpp)
    string(REPLACE " " "\\ " files "${ARGN}")
    string(REPLACE ";" " " files "${files}")
    add_custom_command(OUTPUT ${source}
      COMMAND ${CMAKE_COMMAND} -DINPUTS=${files} -DOUTPUT=${source} -DNAME=${name} -DHEADER=${header}
              -DNAMESPACE=${namespace} -P ${slide_embed_script}
      DEPENDS ${ARGN} ${slide_embed_script} VERBATIM)
    set_source_files_properties(${source} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
    set(embedded_sources ${embedded_sources} ${source} PARENT_SCOPE)
  endfunction()
  return()
endif()
separate_arguments(INPUTS UNIX_COMMAND "${INPUTS}")
set(bytes)
foreach(file ${INPUTS})
  file(READ ${file} part HEX)
  string(APPEND bytes ${part})
endforeach()
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
string(REGEX REPLACE "(0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,)" "\\1\n" bytes "${bytes}")
file(WRITE ${OUTPUT} "#include \"${HEADER}\"

namespace ${NAMESPACE} {

static const unsigned char kBytes[] = {
${bytes}};

std::string_view ${NAME}() {
  return {reinterpret_cast<const char*>(kBytes), sizeof kBytes};
}

}  // namespace ${NAMESPACE}
")
