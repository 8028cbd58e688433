#include "lsh/hash_families.h"

#include "engine/base/error.h"
#include "lsh/dwta.h"
#include "lsh/minhash.h"
#include "lsh/simhash.h"
#include "lsh/wta.h"

namespace slide::lsh {

std::unique_ptr<HashFunctions> make_hash_functions(const HashConfig& config, std::size_t dim,
                                                   std::uint64_t seed) {
  std::unique_ptr<HashFunctions> functions;
  switch (config.family) {
    case HashFamily::kSimhash:
      functions = std::make_unique<Simhash>(config, dim, seed);
      break;
    case HashFamily::kWta:
      functions = std::make_unique<Wta>(config, dim, seed);
      break;
    case HashFamily::kDwta:
      functions = std::make_unique<Dwta>(config, dim, seed);
      break;
    case HashFamily::kMinhash:
      functions = std::make_unique<Minhash>(config, dim, seed);
      break;
  }
  if (!functions) fail_input("hash.family: unknown family {}", static_cast<int>(config.family));
  functions->draw(0);
  return functions;
}

}  // namespace slide::lsh
