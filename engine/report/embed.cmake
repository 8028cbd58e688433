# Writes a C++ source that holds the bytes of files, one behind the other:
# cmake "-DINPUTS=FILE FILE ..." -DOUTPUT=FILE -DNAME=FUNCTION -P embed.cmake
separate_arguments(INPUTS UNIX_COMMAND "${INPUTS}")
set(bytes)
foreach(file ${INPUTS})
  file(READ ${file} part HEX)
  string(APPEND bytes ${part})
endforeach()
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
string(REGEX REPLACE "(0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,)" "\\1\n" bytes "${bytes}")
file(WRITE ${OUTPUT} "#include \"engine/report/embedded.h\"

namespace slide::report::embedded {

static const unsigned char kBytes[] = {
${bytes}};

std::string_view ${NAME}() {
  return {reinterpret_cast<const char*>(kBytes), sizeof kBytes};
}

}  // namespace slide::report::embedded
")
