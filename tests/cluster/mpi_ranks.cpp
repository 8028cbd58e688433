// Tests of exchanges between ranks: run by mpi_test.sh as several processes under an MPI launcher.
// usage: mpi_ranks FOLDER LONGEST_MESSAGE [--gtest...]    the tests below; the first failure ends all ranks
//        mpi_ranks abort | throw | leave | kill           one rank ends early, the others wait for it
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "engine/base/error.h"
#include "engine/cluster/cluster.h"
#include "tests/expect.h"
#include "tests/files.h"

namespace slide {
namespace {

using Bytes = std::vector<std::byte>;

Cluster* cluster = nullptr;
std::string folder;

std::size_t ranks() {
  return static_cast<std::size_t>(cluster->size());
}
std::size_t me() {
  return static_cast<std::size_t>(cluster->rank());
}

// The message from rank `from` to rank `to` on a channel: all contents and sizes differ, some are empty.
Bytes message(std::size_t from, std::size_t to, std::size_t channel, std::size_t unit) {
  Bytes bytes((from + 2 * to + channel) % 4 * unit + (from == 1 ? 0 : to));
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    bytes[i] = static_cast<std::byte>(i * 7 + from * 31 + to * 5 + channel * 3);
  }
  return bytes;
}

// The parts of an exchange, and the expected ones.
struct Exchange {
  std::vector<Bytes> sent, got, expected;

  Exchange(std::size_t channel, std::size_t unit) {
    for (std::size_t q = 0; q < ranks(); ++q) {
      sent.push_back(message(me(), q, channel, unit));
      expected.push_back(message(q, me(), channel, unit));
      got.emplace_back(expected.back().size());
    }
  }
  void start(std::size_t channel) {
    const std::vector<std::span<const std::byte>> out(sent.begin(), sent.end());
    const std::vector<std::span<std::byte>> in(got.begin(), got.end());
    cluster->start(static_cast<int>(channel), out, in);
  }
  std::size_t bytes_to_others() const {
    std::size_t sum = 0;
    for (std::size_t q = 0; q < ranks(); ++q) sum += q == me() ? 0 : sent[q].size();
    return sum;
  }
  std::size_t messages_to_others() const {
    std::size_t sum = 0;
    for (std::size_t q = 0; q < ranks(); ++q) sum += q != me() && !sent[q].empty();
    return sum;
  }
};

TEST(Ranks, KnowTheirPlace) {
  EXPECT_GE(cluster->size(), 2);
  EXPECT_LT(cluster->rank(), cluster->size());
  const std::string place = fmt::format("rank {} of {} (", cluster->rank(), cluster->size());
  EXPECT_EQ(cluster->name().substr(0, place.size()), place);
}

TEST(Ranks, ExchangeOnSeveralChannelsAtOnce) {
  for (const std::size_t unit : {0, 10, 3000, 100000}) {
    std::vector<Exchange> exchanges;
    for (std::size_t channel = 0; channel < 5; ++channel) exchanges.emplace_back(channel, unit);
    for (std::size_t channel = 0; channel < 5; ++channel) exchanges[channel].start(channel);
    cluster->poll();
    for (const std::size_t channel : {3, 0, 4, 1, 2}) {
      cluster->wait(static_cast<int>(channel));
      cluster->poll();
      EXPECT_EQ(exchanges[channel].got, exchanges[channel].expected);
    }
  }
}

TEST(Ranks, UseAChannelAgainAndAgain) {
  for (std::size_t round = 0; round < 200; ++round) {
    Exchange exchange(round, round % 50);
    exchange.start(1);
    if (me() == round % ranks()) cluster->poll();
    cluster->wait(1);
    cluster->wait(1);
    ASSERT_EQ(exchange.got, exchange.expected);
  }
}

TEST(Ranks, PollUntilAnExchangeIsDone) {
  Exchange exchange(0, 50000);
  exchange.start(0);
  for (int i = 0; i < 1000; ++i) cluster->poll();
  cluster->wait(0);
  EXPECT_EQ(exchange.got, exchange.expected);
}

TEST(Ranks, RefuseAChannelTwice) {
  Exchange exchange(0, 0), other(0, 0);
  exchange.sent.assign(ranks(), Bytes(8));
  exchange.got = exchange.sent;
  exchange.start(0);
  EXPECT_THROW(other.start(0), Error);
  EXPECT_THROW(other.start(-1), Error);
  cluster->wait(0);
}

TEST(Ranks, GatherWhatAllHave) {
  for (const std::size_t bytes : {0, 1, 100, 5000, 70000}) {
    Bytes all(bytes * ranks()), expected;
    for (std::size_t q = 0; q < ranks(); ++q)
      expected.insert(expected.end(), bytes, static_cast<std::byte>(q + 1));
    cluster->all_gather(Bytes(bytes, static_cast<std::byte>(me() + 1)), all);
    EXPECT_EQ(all, expected);
  }
  EXPECT_THROW(cluster->all_gather(Bytes(2), {}), Error);
}

TEST(Ranks, GetABroadcastOfEachRoot) {
  for (int root = 0; root < cluster->size(); ++root) {
    Bytes expected(40001);
    for (std::size_t i = 0; i < expected.size(); ++i) expected[i] = static_cast<std::byte>(i * 11);
    Bytes bytes = cluster->rank() == root ? expected : Bytes(expected.size());
    cluster->broadcast(bytes, root);
    EXPECT_EQ(bytes, expected);
  }
  cluster->broadcast({}, 0);
  cluster->barrier();
}

TEST(Ranks, CountTheirTrafficExactly) {
  const Cluster::Traffic before = cluster->traffic();
  Exchange exchange(2, 3000);
  exchange.start(2);
  cluster->wait(2);
  Bytes all(7 * ranks()), some(1000);
  cluster->all_gather(Bytes(7), all);
  cluster->broadcast(some, 1);
  cluster->barrier();
  const Cluster::Traffic after = cluster->traffic();
  const std::size_t others = ranks() - 1, roots = me() == 1 ? 1 : 0;
  EXPECT_EQ(after.bytes_sent - before.bytes_sent,
            exchange.bytes_to_others() + others * 7 + roots * others * 1000);
  EXPECT_EQ(after.messages - before.messages, exchange.messages_to_others() + others + roots * others);
  EXPECT_GT(after.seconds_waited, before.seconds_waited);
}

TEST(Ranks, CountOnlyTheTimeTheyWait) {
  const double before = cluster->traffic().seconds_waited;
  cluster->barrier();
  if (me() == 0) usleep(200000);
  const double between = cluster->traffic().seconds_waited;
  cluster->barrier();
  const double waited = cluster->traffic().seconds_waited - between;
  if (me() != 0) {
    EXPECT_GT(waited, 0.1);
  }
  EXPECT_GE(between, before);
}

// Each rank writes every ranks-th piece, from the last to the first.
TEST(Ranks, WriteAFileTogether) {
  const std::string path = folder + "/shared";
  if (me() == 0) std::ofstream(path) << std::string(100000, 'x');
  cluster->barrier();
  constexpr std::size_t kPiece = 1234, kPieces = 23;
  const auto file = cluster->create(path);
  for (std::size_t i = kPieces; i-- > 0;) {
    if (i % ranks() == me()) file->write_at(i * kPiece, Bytes(kPiece, static_cast<std::byte>('a' + i)));
  }
  file->write_at(0, {});
  file->close();
  std::string expected;
  for (std::size_t i = 0; i < kPieces; ++i) expected.append(kPiece, static_cast<char>('a' + i));
  EXPECT_EQ(read_file(path), expected);
  cluster->barrier();
}

TEST(Ranks, AllLearnThatAFileCannotBeCreated) {
  EXPECT_THROW(cluster->create(folder + "/nowhere/file"), Error);
  // a folder that only rank 0 has: opened by MPI, the file would keep rank 0 waiting
  EXPECT_THROW(cluster->create(folder + (cluster->rank() == 0 ? "/apart" : "/nowhere/apart")), Error);
}

// One rank's disk is full.
TEST(Ranks, AllLearnThatARankCannotWrite) {
  const auto file = cluster->create(folder + "/full");
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, SIG_IGN);
  const rlimit small{100, before.rlim_max};
  if (me() == 1) setrlimit(RLIMIT_FSIZE, &small);
  file->write_at(me() * 5000, Bytes(5000));
  setrlimit(RLIMIT_FSIZE, &before);
  EXPECT_TRUE(contains(run_error([&] { file->close(); }), "(seen by rank 1 of "));
}

// Continuing after the first failure is useless: the ranks are out of step.
class EndAll : public testing::EmptyTestEventListener {
  void OnTestPartResult(const testing::TestPartResult& result) override {
    if (!result.failed()) return;
    std::fprintf(stderr, "%s: %s:%d: %s\n", cluster->name().c_str(), result.file_name(), result.line_number(),
                 result.summary());
    cluster->abort(1);
  }
};

int run_tests(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  if (argc != 3) return 2;
  folder = argv[1];
  const auto opened = open_cluster(std::strtoull(argv[2], nullptr, 10));
  cluster = opened.get();
  testing::TestEventListeners& listeners = testing::UnitTest::GetInstance()->listeners();
  if (cluster->rank() != 0) delete listeners.Release(listeners.default_result_printer());
  listeners.Append(new EndAll);
  return RUN_ALL_TESTS();
}

// Rank 1 ends early in the given way; the others wait for it in a barrier.
int end_early(const std::string& way) {
  const auto opened = open_cluster();
  opened->barrier();
  if (opened->rank() == 1) {
    if (way == "abort") opened->abort(7);
    if (way == "throw") fail_run("rank 1 fails");
    if (way == "leave") std::_Exit(5);
    if (way == "kill") std::raise(SIGKILL);
  }
  opened->barrier();
  return 0;
}

}  // namespace
}  // namespace slide

int main(int argc, char** argv) {
  try {
    return argc == 2 ? slide::end_early(argv[1]) : slide::run_tests(argc, argv);
  } catch (const slide::InputError& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 2;
  } catch (const slide::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 3;
  }
}
