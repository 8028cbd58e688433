// The names under which the parts of a run put their state away and take it back.
#pragma once

#include "engine/base/byte_io.h"

namespace slide {

using StateWriter = ByteWriter;
using StateReader = ByteReader;

}  // namespace slide
