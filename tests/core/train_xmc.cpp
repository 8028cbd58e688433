// Trains XMC text with the core alone and prints loss and P@1.
// usage: train_xmc TRAIN TEST [SECTION.KEY=VALUE...]
#include "tests/core/train_xmc.h"

#include <cstdio>
#include <exception>
#include <fstream>
#include <iterator>

#include "engine/base/error.h"

namespace {

std::string content(const char* path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) slide::fail_input("{}: cannot be opened; check the path", path);
  return {std::istreambuf_iterator<char>(file), {}};
}

void run(int count, char** arguments) {
  if (count < 3) slide::fail_input("usage: train_xmc TRAIN TEST [SECTION.KEY=VALUE...]");
  const slide::Config config = slide::core::core_config({arguments + 3, arguments + count});
  const slide::Dataset train = slide::core::read_xmc(content(arguments[1]), arguments[1]);
  const slide::Dataset test = slide::core::read_xmc(content(arguments[2]), arguments[2], &train);
  slide::LoopObserver observer;
  observer.epoch = [](const slide::EpochReport& report) {
    std::printf("epoch %u  loss %.4f  %.0f active  %.2f s\n", report.epoch, report.loss, report.active_mean,
                report.train_seconds);
  };
  const slide::Network network = slide::core::train(config, train, observer);
  std::printf("P@1 %.4f\n", slide::core::precision_at_1(network, test));
}

}  // namespace

int main(int count, char** arguments) {
  try {
    run(count, arguments);
    return 0;
  } catch (const slide::InputError& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 2;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
