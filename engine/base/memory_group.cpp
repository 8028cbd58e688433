#include "engine/base/memory_group.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string_view>
#include <vector>

namespace slide {

namespace {

namespace fs = std::filesystem;

// Names of files and counters in the folder of a group.
struct GroupVersion {
  const char *limit, *used;
  const char *inactive, *active;  // page cache of a group and the groups in it, in memory.stat
  const char* usual_folder;       // mount point where proc/self/mountinfo names none
};
constexpr GroupVersion kVersion2 = {"memory.max", "memory.current", "inactive_file", "active_file",
                                    "/sys/fs/cgroup"};
constexpr GroupVersion kVersion1 = {"memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file",
                                    "total_active_file", "/sys/fs/cgroup/memory"};

struct Mount {
  fs::path group;  // that the mount point shows
  fs::path folder;
};

// The number in a file, or nullopt ("max" means no limit).
std::optional<double> number_in(const fs::path& path) {
  std::ifstream file(path);
  double value = 0.0;
  return file >> value ? std::optional(value) : std::nullopt;
}

double page_cache_in(const fs::path& group, const GroupVersion& version) {
  std::ifstream file(group / "memory.stat");
  double bytes = 0.0;
  std::string name;
  for (double value = 0.0; file >> name >> value;) {
    if (name == version.inactive || name == version.active) bytes += value;
  }
  return bytes;
}

// Free memory under the limit of this one group: limit - (used - page cache), in bytes.
std::optional<double> free_in(const fs::path& group, const GroupVersion& version) {
  const std::optional<double> limit = number_in(group / version.limit),
                              used = number_in(group / version.used);
  if (!limit || !used) return std::nullopt;
  return std::max(0.0, *limit - std::max(0.0, *used - page_cache_in(group, version)));
}

// Names in proc/self/mountinfo, where blanks and backslashes stand as three octal digits.
std::string unescaped(std::string_view name) {
  const auto is_octal = [](char c) { return c >= '0' && c <= '7'; };
  std::string text;
  for (std::size_t i = 0; i < name.size(); ++i) {
    if (name[i] == '\\' && i + 3 < name.size() && std::ranges::all_of(name.substr(i + 1, 3), is_octal)) {
      text += static_cast<char>((name[i + 1] - '0') * 64 + (name[i + 2] - '0') * 8 + (name[i + 3] - '0'));
      i += 3;
    } else {
      text += name[i];
    }
  }
  return text;
}

bool is_listed(std::string_view list, std::string_view name) {
  for (std::size_t begin = 0; begin <= list.size();) {
    const std::size_t end = std::min(list.find(',', begin), list.size());
    if (list.substr(begin, end - begin) == name) return true;
    begin = end + 1;
  }
  return false;
}

// Where the hierarchy of the version is mounted. A line of mountinfo: ID PARENT DEVICE ROOT POINT OPTIONS
// [FIELD...] - TYPE SOURCE SUPER_OPTIONS.
std::vector<Mount> mounts_of(const GroupVersion& version, const fs::path& root) {
  std::vector<Mount> mounts;
  std::ifstream file(root / "proc/self/mountinfo");
  for (std::string line; std::getline(file, line);) {
    const std::size_t mark = line.find(" - ");
    if (mark == std::string::npos) continue;
    std::istringstream before(line.substr(0, mark)), behind(line.substr(mark + 3));
    std::string id, parent, device, group, folder, type, source, options;
    before >> id >> parent >> device >> group >> folder;
    behind >> type >> source >> options;
    const bool wanted =
        &version == &kVersion2 ? type == "cgroup2" : type == "cgroup" && is_listed(options, "memory");
    if (wanted) mounts.push_back({unescaped(group), unescaped(folder)});
  }
  if (mounts.empty()) mounts.push_back({"/", version.usual_folder});
  return mounts;
}

// The group of this process. A line of proc/self/cgroup: NUMBER:CONTROLLERS:GROUP, version 2 with no
// controllers.
std::optional<fs::path> own_group(const GroupVersion& version, const fs::path& root) {
  std::ifstream file(root / "proc/self/cgroup");
  for (std::string line; std::getline(file, line);) {
    const std::size_t first = line.find(':'), second = line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    if (&version == &kVersion2 ? controllers.empty() : is_listed(controllers, "memory"))
      return line.substr(second + 1);
  }
  return std::nullopt;
}

// Folders of the group and of the groups around it, the outermost first. A group outside of the mounted part
// belongs to a container whose mount point is its own group: only the mount point is returned.
std::vector<fs::path> folders_of(const fs::path& group, const Mount& mount, const fs::path& root) {
  std::vector<fs::path> folders = {root / mount.folder.relative_path()};
  const fs::path within = group.lexically_relative(mount.group);
  if (within.empty() || *within.begin() == "..") return folders;
  for (const fs::path& part : within) {
    if (part != "." && !part.empty()) folders.push_back(folders.back() / part);
  }
  return folders;
}

std::optional<double> smaller(std::optional<double> a, std::optional<double> b) {
  return a && b ? std::min(*a, *b) : a ? a : b;
}

// Min over the mounts of a version and the groups around the process in each.
std::optional<double> free_by(const GroupVersion& version, const fs::path& root) {
  const fs::path group = own_group(version, root).value_or("/");
  std::optional<double> smallest;
  for (const Mount& mount : mounts_of(version, root)) {
    for (const fs::path& folder : folders_of(group, mount, root))
      smallest = smaller(smallest, free_in(folder, version));
  }
  return smallest;
}

}  // namespace

std::optional<double> group_free(const std::string& root) {
  return smaller(free_by(kVersion2, root), free_by(kVersion1, root));
}

}  // namespace slide
