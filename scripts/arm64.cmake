# Cross build for 64-bit ARM with Debian's compiler; tests run under emulation. Used by the preset arm64.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64)
# Libraries of headers alone, which the packages of the building machine have.
foreach(headers xsimd)
  file(GLOB places /usr/lib/*-linux-gnu/cmake/${headers})
  foreach(place ${places})
    set(${headers}_DIR ${place} CACHE PATH "")
  endforeach()
endforeach()
