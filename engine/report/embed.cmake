# Writes a C++ source that holds the bytes of a file: cmake -DINPUT=FILE -DOUTPUT=FILE -DNAME=FUNCTION -P embed.cmake
file(READ ${INPUT} bytes HEX)
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
