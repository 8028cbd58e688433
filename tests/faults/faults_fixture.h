// The program with system calls that fail (fault.cpp).
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "tests/cli/cli_fixture.h"
#include "tests/faults/points.h"
#include "tests/sanitizers.h"

namespace slide::test {

class DisturbedTest : public CliTest {
 protected:
  void SetUp() override {
    if (kSanitized) GTEST_SKIP() << "sanitizers put themselves where the faults are injected";
    CliTest::SetUp();
    setenv("OMP_WAIT_POLICY", "passive", 1);
    generate();
  }

  // Runs the program with the variables of fault.cpp.
  Outcome run_disturbed(const std::string& variables, const Strings& arguments,
                        const std::string& input = "") {
    slide_.begin_with("export LD_PRELOAD='" SLIDE_FAULT "' " + variables);
    Outcome outcome = slide_.run(arguments, input);
    slide_.begin_with(":");
    return outcome;
  }
};

}  // namespace slide::test
