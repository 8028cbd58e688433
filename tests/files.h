// Files of tests, and temporary folders for them.
#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>

#include "engine/base/error.h"

namespace slide {

// The content; empty where there is no such file.
inline std::string read_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

// A temporary folder, removed with its content.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "slide-test-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) throw Error("no temporary folder");
    path_ = name;
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::permissions(path_, std::filesystem::perms::owner_all, ignored);
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const std::string& root() const { return path_; }
  std::string path(const std::string& name) const { return path_ + "/" + name; }
  std::filesystem::path operator/(const std::string& name) const { return path(name); }

  // Writes a file, in folders that need not exist, and returns its path.
  std::string write(const std::string& name, std::string_view content) const {
    std::filesystem::create_directories((*this / name).parent_path());
    std::ofstream(path(name), std::ios::binary) << content;
    return path(name);
  }
  // Number of entries.
  std::size_t files() const {
    return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(path_), {}));
  }

 private:
  std::string path_;
};

// A test with a folder.
class FolderTest : public ::testing::Test {
 protected:
  std::string path(const std::string& name) const { return folder_.path(name); }
  std::string write(const std::string& name, std::string_view content) const {
    return folder_.write(name, content);
  }

  const TemporaryFolder folder_;
};

}  // namespace slide
