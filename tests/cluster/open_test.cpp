// Tests of process detection from the environment: alone, one of several, or unable to find the others.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "engine/base/error.h"
#include "engine/cluster/cluster.h"
#include "engine/cluster/launch.h"
#include "engine/cluster/plugin.h"
#include "tests/expect.h"

namespace slide {
namespace {

constexpr const char* kNames[] = {"OMPI_COMM_WORLD_SIZE",
                                  "OMPI_COMM_WORLD_RANK",
                                  "PMI_SIZE",
                                  "PMI_RANK",
                                  "PMI_FD",
                                  "PMI2_FD",
                                  "PMIX_RANK",
                                  "MPI_LOCALNRANKS",
                                  "SLURM_STEP_NUM_TASKS",
                                  "SLURM_PROCID",
                                  "SLURM_NTASKS",
                                  "SLIDE_MPI_PLUGIN"};

// An environment with these variables and no others that matter.
class Launched : public testing::Test {
 protected:
  void SetUp() override { set({}); }
  void TearDown() override { set({}); }
  static void set(const std::vector<std::pair<const char*, const char*>>& variables) {
    for (const char* name : kNames) unsetenv(name);
    for (const auto& [name, value] : variables) setenv(name, value, 1);
  }
  static std::string refusal() {
    return input_error([&] { open_cluster(); });
  }
};

TEST_F(Launched, WithoutALauncherIsAlone) {
  EXPECT_EQ(launched_processes(), 1);
  EXPECT_EQ(open_cluster()->size(), 1);
}

TEST_F(Launched, ByMpirun) {
  set({{"OMPI_COMM_WORLD_SIZE", "4"}, {"PMIX_RANK", "0"}});
  EXPECT_EQ(launched_processes(), 4);
  set({{"PMI_SIZE", "3"}, {"PMI_RANK", "2"}, {"MPI_LOCALNRANKS", "1"}});
  EXPECT_EQ(launched_processes(), 3);
}

TEST_F(Launched, ByMpirunAsOneProcess) {
  set({{"OMPI_COMM_WORLD_SIZE", "1"}, {"PMIX_RANK", "0"}});
  EXPECT_EQ(launched_processes(), 1);
  EXPECT_EQ(open_cluster()->size(), 1);
}

TEST_F(Launched, BySlurm) {
  set({{"SLURM_STEP_NUM_TASKS", "8"}, {"SLURM_PROCID", "1"}, {"PMIX_RANK", "1"}});
  EXPECT_EQ(launched_processes(), 8);
  set({{"SLURM_STEP_NUM_TASKS", "8"}, {"SLURM_PROCID", "1"}, {"PMI2_FD", "9"}});
  EXPECT_EQ(launched_processes(), 8);
}

TEST_F(Launched, InABatchScriptOfSlurmIsAlone) {
  set({{"SLURM_NTASKS", "8"}, {"SLURM_PROCID", "0"}});
  EXPECT_EQ(launched_processes(), 1);
  set({{"SLURM_STEP_NUM_TASKS", "8"}, {"SLURM_PROCID", "3"}});  // --mpi=none
  EXPECT_EQ(launched_processes(), 1);
}

TEST_F(Launched, WithoutACountIsUnknown) {
  set({{"PMIX_RANK", "0"}});
  EXPECT_EQ(launched_processes(), 0);
  set({{"OMPI_COMM_WORLD_SIZE", "many"}, {"PMIX_RANK", "0"}});
  EXPECT_EQ(launched_processes(), 0);
}

TEST_F(Launched, AsTheFirstOrAnother) {
  EXPECT_EQ(launched_rank(), 0);
  set({{"OMPI_COMM_WORLD_RANK", "2"}, {"PMIX_RANK", "2"}});
  EXPECT_EQ(launched_rank(), 2);
  set({{"PMI_SIZE", "3"}, {"PMI_RANK", "0"}});
  EXPECT_EQ(launched_rank(), 0);
  set({{"PMI2_FD", "9"}, {"SLURM_PROCID", "1"}});
  EXPECT_EQ(launched_rank(), 1);
}

TEST_F(Launched, WithoutThePlugInIsToldWhatToDo) {
  set({{"OMPI_COMM_WORLD_SIZE", "4"}, {"SLIDE_MPI_PLUGIN", "/nowhere/slide_mpi.so"}});
  EXPECT_EQ(
      refusal(),
      "this process was started as one of 4, but there is no /nowhere/slide_mpi.so; install libopenmpi-dev "
      "and build again");
}

TEST_F(Launched, WithAnotherFileForThePlugIn) {
  set({{"OMPI_COMM_WORLD_SIZE", "4"}, {"SLIDE_MPI_PLUGIN", "/proc/self/status"}});
  EXPECT_TRUE(contains(refusal(), "the plug-in cannot be loaded (/proc/self/status: "));
}

TEST_F(Launched, WithAPlugInOfAnotherVersion) {
  if (std::string(SLIDE_MPI_FILE).empty()) GTEST_SKIP() << "built without MPI";
  void* library = dlopen(SLIDE_MPI_FILE, RTLD_NOW | RTLD_GLOBAL);
  ASSERT_NE(library, nullptr) << dlerror();
  auto* open = reinterpret_cast<OpenMpi*>(dlsym(library, kPluginFunction));
  ASSERT_NE(open, nullptr);
  EXPECT_THROW(open("0.0.0", kLongestMessage), InputError);
}

}  // namespace
}  // namespace slide
