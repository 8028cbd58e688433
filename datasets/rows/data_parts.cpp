#include "datasets/rows/data_parts.h"

#include <fmt/format.h>
#include <glob.h>

#include <algorithm>
#include <filesystem>
#include <string_view>
#include <system_error>

namespace slide {

namespace {

constexpr char kBetweenParts = '\n';
constexpr std::string_view kCacheEnd = ".slidecache";  // see cache_path()

bool is_there(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::exists(path, ignored);
}

// The files that a pattern matches, sorted by name.
std::vector<std::string> matches_of(const std::string& pattern) {
  std::vector<std::string> files;
  glob_t found{};
  if (glob(pattern.c_str(), GLOB_NOSORT, nullptr, &found) == 0) {
    for (std::size_t i = 0; i < found.gl_pathc; ++i) files.emplace_back(found.gl_pathv[i]);
  }
  globfree(&found);
  std::erase_if(files, [](const std::string& file) { return file.ends_with(kCacheEnd); });
  std::ranges::sort(files);
  return files;
}

}  // namespace

bool names_parts(const std::string& path) {
  return path.find(kBetweenParts) != std::string::npos && !is_there(path);
}

bool is_pattern(const std::string& path) {
  return path.find_first_of("*?[") != std::string::npos && !is_there(path);
}

std::vector<std::string> parts_of(const std::string& path) {
  if (!names_parts(path)) {
    std::vector<std::string> files = is_pattern(path) ? matches_of(path) : std::vector<std::string>();
    return files.empty() ? std::vector{path} : files;
  }
  std::vector<std::string> parts;
  for (const std::string& line : named_parts(path)) {
    for (std::string& part : parts_of(line)) parts.push_back(std::move(part));
  }
  return parts;
}

std::vector<std::string> named_parts(const std::string& path) {
  std::vector<std::string> parts;
  // No std::getline(): where memory fails, it ends as if the list did.
  for (std::string_view rest = path; !rest.empty();) {
    const std::string_view part = rest.substr(0, rest.find(kBetweenParts));
    rest.remove_prefix(std::min(part.size() + 1, rest.size()));
    if (!part.empty()) parts.emplace_back(part);
  }
  if (parts.empty()) parts.emplace_back();
  return parts;
}

std::string path_of_parts(const std::vector<std::string>& parts) {
  return fmt::format("{}", fmt::join(parts, std::string_view(&kBetweenParts, 1)));
}

std::string expanded(const std::string& path) {
  return path_of_parts(parts_of(path));
}

std::string shown_path(const std::string& path) {
  if (!names_parts(path)) return path.empty() ? "the data" : path;
  const std::vector<std::string> parts = named_parts(path);
  return fmt::format("{} and {} more", parts.front(), parts.size() - 1);
}

}  // namespace slide
