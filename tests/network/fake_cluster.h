// Cluster of threads of one process that exchange through memory. It enforces rules that a real one only
// documents: a sent part stays unmodified until the exchange is done, and an awaited part holds NaN before.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "engine/cluster/cluster.h"

namespace slide::test {

using Message = std::vector<std::byte>;

// Messages waiting for their receivers. Thread-safe.
class PostOffice {
 public:
  explicit PostOffice(int ranks) : ranks_(ranks) {}
  int ranks() const { return ranks_; }

  void post(int channel, int from, int to, Message message) {
    const std::lock_guard lock(mutex_);
    letters_[{channel, from, to}].push_back(std::move(message));
    arrived_.notify_all();
  }
  Message take(int channel, int from, int to) {
    std::unique_lock lock(mutex_);
    auto& box = letters_[{channel, from, to}];
    arrived_.wait(lock, [&] { return closed_ || !box.empty(); });
    if (box.empty()) throw std::runtime_error("another rank has failed");
    Message first = std::move(box.front());
    box.erase(box.begin());
    return first;
  }
  // Wakes all waiting ranks.
  void close() {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    arrived_.notify_all();
  }
  bool empty() const {
    for (const auto& [address, box] : letters_) {
      if (!box.empty()) return false;
    }
    return true;
  }

 private:
  struct Address {
    int channel, from, to;
    auto operator<=>(const Address&) const = default;
  };
  int ranks_;
  std::mutex mutex_;
  std::condition_variable arrived_;
  bool closed_ = false;
  std::map<Address, std::vector<Message>> letters_;
};

class FakeCluster final : public Cluster {
 public:
  FakeCluster(PostOffice& office, int rank) : office_(office), rank_(rank) {}
  int rank() const override { return rank_; }
  int size() const override { return office_.ranks(); }
  std::string name() const override { return "rank " + std::to_string(rank_); }

  void start(int channel, ConstParts out, Parts in) override {
    if (out.size() != ranks() || in.size() != ranks()) throw std::logic_error("not a part for each rank");
    if (channel < 0 || under_way_.contains(channel)) throw std::logic_error("the channel is not free");
    Exchange& exchange = under_way_[channel];
    for (std::size_t q = 0; q < ranks(); ++q) {
      exchange.in.push_back(in[q]);
      exchange.out.push_back(out[q]);
      exchange.sent.emplace_back(out[q].begin(), out[q].end());
      if (!in[q].empty()) std::memset(in[q].data(), 0xff, in[q].size());  // NaN
      office_.post(channel, rank_, static_cast<int>(q), exchange.sent.back());
    }
  }

  void wait(int channel) override {
    const auto at = under_way_.find(channel);
    if (at == under_way_.end()) return;
    const Exchange exchange = std::move(at->second);
    under_way_.erase(at);
    for (std::size_t q = 0; q < ranks(); ++q) {
      const Message message = office_.take(channel, static_cast<int>(q), rank_);
      const std::span<const std::byte> out = exchange.out[q];
      const std::span<std::byte> in = exchange.in[q];
      if (!std::ranges::equal(out, exchange.sent[q])) throw std::logic_error("a part changed on its way");
      if (message.size() != in.size()) throw std::logic_error("sizes that do not agree");
      std::ranges::copy(message, in.begin());
    }
  }
  void poll() override {}

  void all_gather(std::span<const std::byte> mine, std::span<std::byte> all) override {
    for (int q = 0; q < size(); ++q) office_.post(kGather, rank_, q, {mine.begin(), mine.end()});
    for (int q = 0; q < size(); ++q) {
      const Message message = office_.take(kGather, q, rank_);
      std::ranges::copy(message, all.subspan(static_cast<std::size_t>(q) * mine.size()).begin());
    }
  }
  void broadcast(std::span<std::byte> bytes, int root) override {
    for (int q = 0; q < size() && rank_ == root; ++q)
      office_.post(kBroadcast, root, q, {bytes.begin(), bytes.end()});
    std::ranges::copy(office_.take(kBroadcast, root, rank_), bytes.begin());
  }
  void barrier() override {
    std::vector<std::byte> all(ranks());
    all_gather(std::span(all).first(1), all);
  }
  [[noreturn]] void abort(int code) override { std::exit(code); }
  std::unique_ptr<SharedFile> create(const std::string&) override { throw std::logic_error("no files here"); }
  Traffic traffic() const override { return {}; }

 private:
  static constexpr int kGather = -1, kBroadcast = -2;
  struct Exchange {
    std::vector<std::span<const std::byte>> out;
    std::vector<std::span<std::byte>> in;
    std::vector<Message> sent;
  };
  std::size_t ranks() const { return static_cast<std::size_t>(office_.ranks()); }

  PostOffice& office_;
  int rank_;
  std::map<int, Exchange> under_way_;
};

// Calls body(cluster) concurrently for each of `ranks` ranks; an exception of any fails the test.
template <class Body>
void run_ranks(int ranks, const Body& body) {
  PostOffice office(ranks);
  std::vector<std::thread> threads;
  for (int rank = 0; rank < ranks; ++rank) {
    threads.emplace_back([&, rank] {
      FakeCluster cluster(office, rank);
      try {
        body(cluster);
      } catch (const std::exception& error) {
        ADD_FAILURE() << cluster.name() << " of " << ranks << ": " << error.what();
        office.close();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_TRUE(office.empty()) << "messages without a receiver";
}

}  // namespace slide::test
