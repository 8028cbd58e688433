// A configuration of end-to-end tests, as TOML: a small softmax network with exact gradients and without kNN.
#pragma once

#include <string>

namespace slide::test {

struct SmallConfig {
  std::string train = "epochs = 2\nbatch_size = 32\nblock_size = 16\n";  // and further sections
  std::string hidden = "size = 16\n";
  std::string output = "kind = \"sampled\"\nlsh = 16\nuniform = 8\nlogq_correction = true\n";
  bool wide = false;
  std::string tables = "k = 4\ntables = 8\nrange_pow = 4\n";  // none: no section
  std::string rehash = "rehash_steps = 5\nrebuild_steps = 12\n";
};

inline std::string small_config(const SmallConfig& c = {}) {
  return "[train]\n" + c.train +
         "[optimizer]\nlearning_rate = 0.05\n"
         "[loss]\nkind = \"softmax\"\ngradient_threshold = 0\n"
         "[neighbours]\nshare = 0\n"
         "[[layer]]\n" +
         c.hidden + "[[layer]]\n" + c.output +
         (c.wide ? "wide = true\nwide_features = 128\nwide_negatives = 0\nwide_rate = 0.1\nwide_scale = "
                   "1\nwide_fit = 0\n"
                 : "wide = false\n") +
         (c.tables.empty() ? "" : "[layer.hash]\n" + c.tables + c.rehash);
}

}  // namespace slide::test
