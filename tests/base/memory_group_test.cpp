#include "engine/base/memory_group.h"

#include <gtest/gtest.h>

#include <string>

#include "tests/files.h"

namespace slide {
namespace {

// A folder with the files of /proc and /sys that tell a process of its control groups.
class MemoryGroupTest : public FolderTest {
 protected:
  void version2(const std::string& folder, const std::string& limit, long used, long inactive = 0,
                long active = 0) const {
    const std::string group = "sys/fs/cgroup" + folder;
    write(group + "/memory.max", limit + "\n");
    write(group + "/memory.current", std::to_string(used) + "\n");
    write(group + "/memory.stat", "anon 5\nfile 7\ninactive_anon 9\ninactive_file " +
                                      std::to_string(inactive) + "\nactive_file " + std::to_string(active) +
                                      "\nslab 1\n");
  }
  void version1(const std::string& folder, const std::string& limit, long used, long inactive = 0) const {
    const std::string group = "sys/fs/cgroup/memory" + folder;
    write(group + "/memory.limit_in_bytes", limit + "\n");
    write(group + "/memory.usage_in_bytes", std::to_string(used) + "\n");
    write(group + "/memory.stat",
          "cache 1\ninactive_file 3\nhierarchical_memory_limit 600\ntotal_inactive_file " +
              std::to_string(inactive) + "\n");
  }
  void mount2(const std::string& group = "/") const {
    write("proc/self/mountinfo", "22 1 8:1 / / rw - ext4 /dev/sda rw\n31 22 0:28 " + group +
                                     " /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw,nsdelegate\n");
  }
  // As on machines with both versions: memory by version 1.
  void mount1(const std::string& group = "/") const {
    write("proc/self/mountinfo", "31 22 0:28 / /sys/fs/cgroup rw - tmpfs tmpfs rw,mode=755\n32 31 0:31 " +
                                     group +
                                     " /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n33 31 0:32 / "
                                     "/sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n");
  }
  std::optional<double> free() const { return group_free(folder_.root()); }
};

constexpr const char* kNoLimit1 = "9223372036854771712";

TEST_F(MemoryGroupTest, PageCacheIsFree) {
  mount2();
  write("proc/self/cgroup", "0::/\n");
  version2("", "600", 597, 400, 100);
  EXPECT_EQ(free(), 503);
  version2("", "600", 597, 900);  // counters are read one after the other and may disagree
  EXPECT_EQ(free(), 600);
  version2("", "600", 700);
  EXPECT_EQ(free(), 0);
}

TEST_F(MemoryGroupTest, PageCacheIsFreeInVersion1) {
  mount1();
  write("proc/self/cgroup", "9:name=systemd:/\n4:memory:/\n0::/\n");
  version1("", "600", 597, 400);
  EXPECT_EQ(free(), 403);
}

// As systemd starts a service with MemoryMax=.
TEST_F(MemoryGroupTest, OfASystemdServiceIsFound) {
  mount2();
  write("proc/self/cgroup", "0::/system.slice/my\\x2dtrain.service\n");
  version2("/system.slice", "max", 1000);
  version2("/system.slice/my\\x2dtrain.service", "500", 100, 20);
  version2("/system.slice/other.service", "5", 1);
  EXPECT_EQ(free(), 420);
}

// Slurm limits the job and its step, and a task runs below them.
TEST_F(MemoryGroupTest, OfASlurmJobIsFound) {
  mount2();
  write("proc/self/cgroup", "0::/system.slice/slurmstepd.scope/job_7/step_0/user/task_0\n");
  version2("/system.slice", "max", 90);
  version2("/system.slice/slurmstepd.scope/job_7", "800", 300, 100);
  version2("/system.slice/slurmstepd.scope/job_7/step_0", "900", 300);
  version2("/system.slice/slurmstepd.scope/job_7/step_0/user/task_0", "max", 300);
  EXPECT_EQ(free(), 600);
}

TEST_F(MemoryGroupTest, OfASlurmJobIsFoundInVersion1) {
  mount1();
  write("proc/self/cgroup", "8:pids:/\n4:cpu,memory:/slurm/uid_0/job_7/step_0/task_0\n0::/user.slice\n");
  version1("", kNoLimit1, 5000);
  version1("/slurm/uid_0", "2000", 1500);
  version1("/slurm/uid_0/job_7", "800", 500);
  version1("/slurm/uid_0/job_7/step_0", kNoLimit1, 500);
  EXPECT_EQ(free(), 300);
}

// Without a namespace of its own, a container sees its group as the root of the mount, under its outer name
// in proc/self/cgroup.
TEST_F(MemoryGroupTest, OfAContainerIsFoundUnderItsOuterName) {
  mount1("/docker/a1");
  write("proc/self/cgroup", "4:memory:/docker/a1/inner\n");
  version1("", "700", 100);
  version1("/inner", "650", 80);
  EXPECT_EQ(free(), 570);
  write("proc/self/cgroup", "4:memory:/elsewhere\n");
  EXPECT_EQ(free(), 600);
}

TEST_F(MemoryGroupTest, MountPointsMayHaveAnyName) {
  write("proc/self/mountinfo",
        "31 22 0:28 /a\\134x2db /mnt/my\\040groups rw - cgroup2 none rw\nnonsense\n32 31 - \n");
  write("proc/self/cgroup", "nonsense\n0::/a\\x2db/c\n");
  write("mnt/my groups/c/memory.max", "50");
  write("mnt/my groups/c/memory.current", "20");
  EXPECT_EQ(free(), 30);
}

TEST_F(MemoryGroupTest, WithoutMountinfoTheUsualFoldersAreRead) {
  version2("", "600", 100);
  EXPECT_EQ(free(), 500);
  version1("", "300", 100);
  EXPECT_EQ(free(), 200);
}

TEST_F(MemoryGroupTest, WithoutALimitThereIsNoFigure) {
  EXPECT_EQ(free(), std::nullopt);
  mount2();
  write("proc/self/cgroup", "0::/a\n");
  version2("/a", "max", 100);
  EXPECT_EQ(free(), std::nullopt);
}

}  // namespace
}  // namespace slide
