// Cluster of a single process, without MPI: an exchange copies the own part, and nothing waits. One thread at
// a time.
#pragma once

#include <memory>
#include <string>

#include "engine/cluster/cluster.h"

namespace slide {

class Alone final : public Cluster {
 public:
  int rank() const override { return 0; }
  int size() const override { return 1; }
  std::string name() const override;
  void start(int channel, ConstParts out, Parts in) override;
  void wait(int /*channel*/) override {}
  void poll() override {}
  void all_gather(std::span<const std::byte> mine, std::span<std::byte> all) override;
  void broadcast(std::span<std::byte> /*bytes*/, int /*root*/) override {}
  void barrier() override {}
  [[noreturn]] void abort(int code) override;
  std::unique_ptr<SharedFile> create(const std::string& path) override;
  Traffic traffic() const override { return {}; }
};

}  // namespace slide
