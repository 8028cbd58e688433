// The defaults of the structs, of a file without keys and of configs/default.toml are equal.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "engine/config/config.h"
#include "engine/config/reference.h"
#include "tests/expect.h"

namespace slide {
namespace {

namespace fs = std::filesystem;

const std::string kDefault = std::string(SLIDE_CONFIGS) + "/default.toml";

std::string resolved(const std::string& text) {
  return to_toml(parse_config(text, "test.toml"));
}

std::vector<std::string> lines_of(const std::string& path) {
  std::ifstream file(path);
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  return lines;
}

TEST(Defaults, AreTheModelOfDefaultToml) {
  const std::string stated = to_toml(load_config(kDefault));
  EXPECT_EQ(to_toml(Config()), stated);
  EXPECT_EQ(resolved(""), stated);
  EXPECT_EQ(to_toml(load_config(kDefault, {"data.train=a", "data.test=b"})),
            resolved("[data]\ntrain = \"a\"\ntest = \"b\"\n"));
}

TEST(Defaults, OfInteractionsAreTheModelOfInteractionsToml) {
  const std::string stated = to_toml(load_config(std::string(SLIDE_CONFIGS) + "/interactions.toml"));
  EXPECT_EQ(to_toml(suited_to_interactions()), stated);
  EXPECT_EQ(resolved("[data]\nkind = \"interactions\"\n"), stated);
}

TEST(Defaults, EveryLineOfDefaultTomlCanBeLeftOut) {
  const std::string stated = to_toml(load_config(kDefault));
  const std::vector<std::string> lines = lines_of(kDefault);
  int left_out = 0;
  for (std::size_t out = 0; out < lines.size(); ++out) {
    if (lines[out].find(" = ") == std::string::npos || lines[out].starts_with('#')) continue;
    std::string text;
    for (std::size_t i = 0; i < lines.size(); ++i) text += i == out ? "" : lines[i] + '\n';
    EXPECT_EQ(resolved(text), stated) << lines[out];
    ++left_out;
  }
  EXPECT_GE(left_out, 25);
}

TEST(Defaults, OfLayersGoByTheirPlace) {
  EXPECT_EQ(resolved("[[layer]]\n[[layer]]\n"), resolved(""));
  const std::string one = to_toml(parse_config("[[layer]]\n", "test.toml"));
  EXPECT_EQ(parse_config("[[layer]]\n", "test.toml").layers.size(), 1u);
  EXPECT_EQ(one, resolved("[[layer]]\nsize = 0\nkind = \"sampled\"\nwide = true\n"));
  const Config three = parse_config("[[layer]]\n[[layer]]\nsize = 64\n[[layer]]\n", "test.toml");
  ASSERT_EQ(three.layers.size(), 3u);
  EXPECT_EQ(three.layers[0].size, 128u);
  EXPECT_EQ(three.layers[1].size, 64u);
  EXPECT_EQ(three.layers[1].kind, LayerKind::kDense);
  EXPECT_FALSE(three.layers[1].wide);
  EXPECT_EQ(three.layers[2].size, 0u);
  EXPECT_EQ(three.layers[2].kind, LayerKind::kSampled);
  EXPECT_TRUE(three.layers[2].wide);
}

TEST(Defaults, TheReferenceTellsThoseOfBothPlaces) {
  const std::string text = config_reference();
  EXPECT_TRUE(contains(text, "| `size` | integer | `128`; last layer `0` |"));
  EXPECT_TRUE(contains(text, "| `wide` | boolean | `false`; last layer `true` |"));
  EXPECT_TRUE(contains(text, "| `uniform` | integer | `1280` |"));
}

TEST(Defaults, EveryConfigurationThatIsShippedIsValid) {
  int files = 0;
  for (const auto& entry : fs::directory_iterator(SLIDE_CONFIGS)) {
    if (entry.path().extension() != ".toml") continue;
    EXPECT_NO_THROW(load_config(entry.path())) << entry.path();
    ++files;
  }
  EXPECT_GE(files, 10);
}

}  // namespace
}  // namespace slide
