// Tests of --pin: equal results, and refusal where threads cannot have one core each.
#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include <cerrno>
#include <cstdio>

#include "tests/cli/cli_fixture.h"

namespace slide::test {
namespace {

class PinTest : public CliTest {
 protected:
  // Runs the program; calls `prepare` in its process first.
  Outcome run(const std::vector<std::string>& arguments, void (*prepare)()) const {
    const std::string err = slide_.path("stderr");
    const int code = wait_for(slide_.start(arguments, [&] {
      if (std::freopen("/dev/null", "w", stdout) == nullptr ||
          std::freopen(err.c_str(), "w", stderr) == nullptr)
        _exit(97);
      prepare();
    }));
    return {code, "", file("stderr")};
  }
  static std::vector<std::string> pinned(const std::string& threads) {
    return {"train", "small.toml", "--set", "data.train=data/train.txt", "--out", "out",
            "--pin", "--threads",  threads};
  }
};

// In the child process: allows one processor only.
void keep_to_one() {
  cpu_set_t set;
  sched_getaffinity(0, sizeof set, &set);
  int first = 0;
  while (!CPU_ISSET(first, &set)) ++first;
  CPU_ZERO(&set);
  CPU_SET(first, &set);
  if (sched_setaffinity(0, sizeof set, &set) != 0) _exit(96);
}
void forbid_binding() {
  sock_filter filter[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_sched_setaffinity, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog program = {sizeof filter / sizeof *filter, filter};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
      prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
    _exit(95);
}

TEST_F(PinTest, GivesTheSameBits) {
  cpu_set_t set;
  ASSERT_EQ(sched_getaffinity(0, sizeof set, &set), 0);
  if (CPU_COUNT(&set) < 2) GTEST_SKIP() << "one processor";
  generate();
  for (const std::string threads : {"1", "2"}) {
    const Outcome free = expect_done(train({"--threads", threads}, "free"));
    const Outcome bound = expect_done(train({"--threads", threads, "--pin"}, "bound"));
    EXPECT_EQ(bound.err, "");
    EXPECT_EQ(file("free/model.slide"), file("bound/model.slide")) << threads;
  }
  for (const std::string command : {"predict", "test"}) {
    std::vector<std::string> arguments = {command, "bound/model.slide", "data/test.txt", "--threads", "2"};
    const Outcome free = slide_.run(arguments);
    arguments.push_back("--pin");
    const Outcome bound = expect_done(slide_.run(arguments));
    if (command == "predict") {
      EXPECT_EQ(free.out, bound.out);
    }
  }
  expect_done(slide_.run({"tune", "small.toml", "--set", "data.train=data/train.txt", "--trials", "2",
                          "--threads", "2", "--pin", "--out", "tuned.toml"}));
}

TEST_F(PinTest, MoreThreadsThanCoresAreRefused) {
  generate();
  const Outcome refused = run(pinned("2"), keep_to_one);
  EXPECT_EQ(refused.code, 2);
  EXPECT_EQ(refused.err,
            "slide: 2 threads cannot be bound to a core each: the process may use 1; give less --threads, or "
            "leave --pin out\n");
  EXPECT_FALSE(exists("out/config.toml"));
  EXPECT_EQ(run(pinned("1"), keep_to_one).code, 0);
}

TEST_F(PinTest, ASystemThatBindsNoThreadIsRefused) {
  generate();
  const Outcome refused = run(pinned("1"), forbid_binding);
  if (refused.code == 95) GTEST_SKIP() << "calls cannot be forbidden here";
  EXPECT_EQ(refused.code, 1);
  EXPECT_EQ(refused.err,
            "slide: threads cannot be bound to cores here (Operation not permitted); leave --pin out\n");
}

}  // namespace
}  // namespace slide::test
