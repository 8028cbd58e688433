// Tests of the cache: equality with parsing, detection of changed sources, damage, and bounded memory.
#include "datasets/cache.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "datasets/cache_file.h"
#include "datasets/generator.h"
#include "datasets/read_into.h"
#include "datasets/reader.h"
#include "engine/base/rng.h"
#include "tests/datasets/test_files.h"

namespace slide {
namespace {

namespace fs = std::filesystem;

constexpr const char* kXmc = "4 9 7\n1,2 3:1 0:2.5\n\n 5:1 5:1\n6 8\n";
constexpr const char* kLibsvm = "# samples\n3,1,1 2:0.5 4:1 # more\n\n0 1:3\n5 4:1 1:2\n";

std::string big_endian(std::uint32_t value) {
  return {static_cast<char>(value >> 24), static_cast<char>(value >> 16), static_cast<char>(value >> 8),
          static_cast<char>(value)};
}

std::string idx_images() {
  std::string bytes = big_endian(0x803) + big_endian(600) + big_endian(2) + big_endian(3);
  for (int i = 0; i < 600 * 6; ++i) bytes += static_cast<char>(i % 3 == 0 ? 0 : i % 251);
  return bytes;
}

std::string idx_labels() {
  std::string bytes = big_endian(0x801) + big_endian(600);
  for (int i = 0; i < 600; ++i) bytes += static_cast<char>(i % 10);
  return bytes;
}

void expect_same(const Dataset& data, const Dataset& expected) {
  EXPECT_EQ(data.feature_count(), expected.feature_count());
  EXPECT_EQ(data.label_count(), expected.label_count());
  EXPECT_EQ(show(data), show(expected));
}

// Reads twice with the given outcomes; both results must equal parsing.
void expect_outcomes(const std::string& path, const ReadOptions& options, CacheOutcome first,
                     CacheOutcome second = CacheOutcome::kUsed) {
  const Dataset expected = read_dataset(path, options);
  for (const CacheOutcome outcome : {first, second}) {
    const CachedDataset cached = read_dataset_cached(path, options);
    EXPECT_EQ(cached.outcome, outcome) << cached.reason;
    EXPECT_EQ(cached.reason.empty(), outcome != CacheOutcome::kNone);
    expect_same(cached.data, expected);
  }
}

void set_time(const std::string& path, fs::file_time_type::duration age) {
  fs::last_write_time(path, fs::file_time_type::clock::now() - age);
}

std::string generated(const TemporaryFolder& folder, std::uint64_t samples) {
  GeneratorOptions options;
  options.samples = samples;
  options.test_samples = 1;
  options.threads = 2;
  generate_dataset(options, folder.root());
  return folder.path("train.txt");
}

TEST(Cache, GivesWhatParsingGivesForEveryFormat) {
  const TemporaryFolder folder;
  folder.write("labels-idx1", idx_labels());
  folder.write("packed-labels-idx1.gz", gzip(idx_labels()));
  for (const std::string& path :
       {folder.write("xmc", kXmc), folder.write("libsvm", kLibsvm), folder.write("xmc.gz", gzip(kXmc)),
        folder.write("libsvm.gz", gzip(kLibsvm)), folder.write("xmc.zst", zstd(kXmc)),
        folder.write("images-idx3", idx_images()), folder.write("packed-images-idx3.gz", gzip(idx_images())),
        folder.write("blank", "3 1 1\n\n\n\n")}) {
    SCOPED_TRACE(path);
    expect_outcomes(path, {}, CacheOutcome::kWritten);
  }
  EXPECT_EQ(folder.files(), 2U + 8U * 2U);  // no other files remain
}

TEST(Cache, ReportsTheFaultsOfTheFile) {
  const TemporaryFolder folder;
  for (const char* text : {"", "2 3 3\n1 1:1\n", "1 3 3\n1 7:1\n", "1 3 3\n1 2:x\n", "word\n"}) {
    const std::string path = folder.write("data", text);
    const std::string message = input_error([&] { read_dataset_cached(path); });
    EXPECT_FALSE(message.empty());
    EXPECT_EQ(message, input_error([&] { read_dataset(path); }));
  }
  const std::string cut = folder.write("data", gzip(kXmc).substr(0, 30));
  EXPECT_EQ(input_error([&] { read_dataset_cached(cut); }), input_error([&] { read_dataset(cut); }));
  const std::string missing = folder.path("missing");
  EXPECT_EQ(input_error([&] { read_dataset_cached(missing); }), input_error([&] { read_dataset(missing); }));
  EXPECT_NE(input_error([&] { read_dataset_cached(folder.root()); }), "");
  EXPECT_EQ(folder.files(), 1U);
}

TEST(Cache, NoticesThatTheFileChanged) {
  const TemporaryFolder folder;
  const std::string path = folder.write("data", kXmc);
  expect_outcomes(path, {}, CacheOutcome::kWritten);
  set_time(path, std::chrono::hours(1));
  expect_outcomes(path, {}, CacheOutcome::kWritten);
  const fs::file_time_type time = fs::last_write_time(path);
  folder.write("data", std::string(kXmc) + "\n");  // different size, same time
  fs::last_write_time(path, time);
  expect_outcomes(path, {}, CacheOutcome::kWritten);
  folder.write("data", "1 2 3\n1 1:1\n");
  expect_outcomes(path, {}, CacheOutcome::kWritten);
  folder.write("data", "1 2 3\n2 0:1\n");  // same size, immediately after
  expect_outcomes(path, {}, CacheOutcome::kWritten);
}

TEST(Cache, NoticesThatTheLabelsOfImagesChanged) {
  const TemporaryFolder folder;
  const std::string path = folder.write("images-idx3", idx_images());
  std::string labels = idx_labels();
  folder.write("labels-idx1", labels);
  expect_outcomes(path, {}, CacheOutcome::kWritten);
  labels[9] = 7;
  folder.write("labels-idx1", labels);
  expect_outcomes(path, {}, CacheOutcome::kWritten);
}

TEST(Cache, BelongsToTheOptionsThatChangeTheContent) {
  const TemporaryFolder folder;
  const std::string path = folder.write("data", "1 2:3 4:4\n0 1:1\n");
  expect_outcomes(path, {}, CacheOutcome::kWritten);
  expect_outcomes(path, {.normalize = false}, CacheOutcome::kWritten);
  expect_outcomes(path, {.one_based = true, .normalize = false}, CacheOutcome::kWritten);
  expect_outcomes(path, {.format = DataFormat::kLibsvm}, CacheOutcome::kWritten);
  expect_outcomes(path, {.format = DataFormat::kLibsvm, .threads = 3}, CacheOutcome::kUsed);
}

TEST(Cache, ServesEveryLimitThatItsIdsAllow) {
  const TemporaryFolder folder;
  for (const char* text : {"1 2:3 4:4\n0 1:1\n", "2 9 9\n1 2:3 4:4\n0 1:1\n"}) {
    const std::string path = folder.write("data", text);
    expect_outcomes(path, {.feature_limit = 6, .label_limit = 3}, CacheOutcome::kWritten);
    expect_outcomes(path, {}, CacheOutcome::kUsed);
    expect_outcomes(path, {.feature_limit = 5, .label_limit = 2}, CacheOutcome::kUsed);
    expect_outcomes(path, {.feature_limit = 1000, .label_limit = 1000}, CacheOutcome::kUsed);
    for (const ReadOptions& tight : {ReadOptions{.feature_limit = 4}, ReadOptions{.label_limit = 1}}) {
      EXPECT_EQ(input_error([&] { read_dataset_cached(path, tight); }),
                input_error([&] { read_dataset(path, tight); }));
      EXPECT_NE(input_error([&] { read_dataset_cached(path, tight); }), "");
    }
    expect_outcomes(path, {}, CacheOutcome::kUsed);
  }
}

TEST(Cache, IsMadeAgainWhenDamaged) {
  const TemporaryFolder folder;
  const std::string path = generated(folder, 50);
  expect_outcomes(path, {}, CacheOutcome::kWritten);
  const std::string whole = read_file(cache_path(path));
  const auto replace = [&](const std::string& bytes) {
    folder.write("train.txt.slidecache", bytes);
    expect_outcomes(path, {}, CacheOutcome::kWritten);
    EXPECT_TRUE(read_file(cache_path(path)) == whole);
  };
  for (const std::size_t bytes : {std::size_t{0}, std::size_t{1}, std::size_t{8}, std::size_t{100},
                                  std::size_t{4095}, std::size_t{4096}, whole.size() / 2, whole.size() - 1}) {
    replace(whole.substr(0, bytes));
  }
  replace(whole + '\0');
  replace(std::string(whole.size(), '\0'));
  replace(whole.substr(0, 4096) + std::string(whole.size() - 4096, '\0'));
  for (std::size_t at = 0; at < 150; at += 3) {  // the header; the rest of its page is zero
    std::string damaged = whole;
    damaged[at] = static_cast<char>(damaged[at] ^ (1 << at % 8));
    replace(damaged);
  }
  Rng rng(1, Purpose::kTest);
  for (int i = 0; i < 50; ++i) {
    std::string damaged = whole;
    char& byte = damaged[4096 + rng.below(static_cast<std::uint32_t>(whole.size() - 4096))];
    byte = static_cast<char>(byte ^ (1 << rng.below(8)));
    replace(damaged);
  }
}

// Writes rows as CacheSink does, with checksums, under the key of the cache at `path`.
void write_cache_of(const DatasetArrays& rows, const CsrSizes& sizes, const std::string& path) {
  CacheKey key;
  std::memcpy(&key, read_file(cache_path(path)).data() + 16, sizeof key);
  AtomicFile file(cache_path(path));
  CacheSink sink(file);
  const CsrCounts counts = {rows.feature_offsets.size() - 1, rows.feature_ids.size(), rows.label_ids.size(),
                            rows.weights.size()};
  sink.start(counts, 1);
  const CsrRoom room = sink.open({}, counts, 0);
  std::copy(rows.feature_offsets.begin() + 1, rows.feature_offsets.end(), room.feature_ends);
  std::copy(rows.label_offsets.begin() + 1, rows.label_offsets.end(), room.label_ends);
  std::ranges::copy(rows.feature_ids, room.feature_ids);
  std::ranges::copy(rows.feature_values, room.feature_values);
  std::ranges::copy(rows.label_ids, room.label_ids);
  std::ranges::copy(rows.weights, room.weights);
  sink.close(0);
  sink.finish(key, sizes);
  file.finish();
}

TEST(Cache, WhoseEntriesCannotBeIsMadeAgain) {
  const TemporaryFolder folder;
  const std::string path = folder.write("data", "3 9 7\n1,2 3:1 4:2.5\n5:1 6:1\n6 2:8\n");
  const DatasetArrays good = {{0, 2, 4, 5}, {3, 4, 5, 6, 2}, {1, 2, 3, 4, 5}, {0, 2, 2, 3}, {1, 2, 1}};
  const CsrSizes sizes = {9, 7, 7, 3};
  read_dataset_cached(path);
  write_cache_of(good, sizes, path);
  EXPECT_EQ(show(read_dataset_cached(path).data), (Rows{"1,2|3:1 4:2", "|5:3 6:4", "1|2:5"}));
  const auto expect_made_again = [&](const auto& spoil) {
    DatasetArrays bad = good;
    CsrSizes bad_sizes = sizes;
    spoil(bad, bad_sizes);
    write_cache_of(bad, bad_sizes, path);
    expect_outcomes(path, {}, CacheOutcome::kWritten);
  };
  expect_made_again([](DatasetArrays& rows, CsrSizes&) { rows.feature_ids[4] = 7; });
  expect_made_again([](DatasetArrays& rows, CsrSizes&) { rows.feature_ids[1] = 4'000'000'000; });
  expect_made_again([](DatasetArrays& rows, CsrSizes&) { rows.feature_ids[3] = 5; });
  expect_made_again([](DatasetArrays& rows, CsrSizes&) { rows.feature_ids[1] = 2; });
  expect_made_again([](DatasetArrays& rows, CsrSizes&) { rows.feature_values[4] = INFINITY; });
  expect_made_again([](DatasetArrays& rows, CsrSizes&) { rows.feature_values[0] = NAN; });
  expect_made_again([](DatasetArrays& rows, CsrSizes&) { rows.label_ids[2] = 3; });
  expect_made_again([](DatasetArrays& rows, CsrSizes&) { rows.label_ids[1] = 1; });
  expect_made_again([](DatasetArrays& rows, CsrSizes&) { rows.weights = {1, -1, 1}; });
  expect_made_again([](DatasetArrays& rows, CsrSizes&) { rows.weights = {1, NAN, 1}; });
  expect_made_again([](DatasetArrays& rows, CsrSizes&) { rows.weights = {1, 1}; });
  expect_made_again([](DatasetArrays&, CsrSizes& of) { of.feature_bound = 10; });
  expect_made_again([](DatasetArrays&, CsrSizes& of) { of.label_bound = 8; });
}

TEST(Cache, IsNotNeededToRead) {
  const TemporaryFolder folder;
  const std::string path = folder.write("data", kXmc);
  fs::create_directories(cache_path(path) + "/full");  // a folder has the name
  expect_outcomes(path, {}, CacheOutcome::kNone, CacheOutcome::kNone);
  EXPECT_EQ(folder.files(), 2U);
  const std::ifstream keep_open(path);
  int places = 0;
  for (const auto& entry : fs::directory_iterator("/proc/self/fd")) {
    std::error_code ignored;
    if (fs::read_symlink(entry.path(), ignored) != fs::path(path)) continue;
    // no file can be created here
    expect_outcomes(entry.path(), {}, CacheOutcome::kNone, CacheOutcome::kNone);
    ++places;
  }
  EXPECT_EQ(places, 1);
}

TEST(Cache, LeavesAFolderWithoutPermissionAlone) {
  if (geteuid() == 0) GTEST_SKIP() << "permissions do not bind this user";
  const TemporaryFolder folder;
  const std::string path = folder.write("data", kXmc);
  chmod(folder.root().c_str(), 0555);
  expect_outcomes(path, {}, CacheOutcome::kNone, CacheOutcome::kNone);
  EXPECT_EQ(folder.files(), 1U);
  chmod(folder.root().c_str(), 0755);
  expect_outcomes(path, {}, CacheOutcome::kWritten);
}

TEST(Cache, ReadsWhatIsNoFileWithoutOne) {
  const TemporaryFolder folder;
  const std::string path = folder.path("pipe");
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  std::thread writer([&] { std::ofstream(path) << kXmc; });
  const CachedDataset cached = read_dataset_cached(path);
  writer.join();
  EXPECT_EQ(cached.outcome, CacheOutcome::kNone);
  EXPECT_EQ(show(cached.data), show(parse_dataset(kXmc, "text")));
  EXPECT_EQ(folder.files(), 1U);
}

TEST(Cache, OutlivesItsFiles) {
  const TemporaryFolder folder;
  const std::string path = folder.write("data", kXmc);
  const auto expected = show(read_dataset(path));
  const Dataset written = read_dataset_cached(path).data, used = read_dataset_cached(path).data;
  fs::remove(path);
  fs::remove(cache_path(path));
  EXPECT_EQ(show(written), expected);
  EXPECT_EQ(show(used), expected);
}

TEST(Cache, MayBeWrittenBySeveralAtOnce) {
  const TemporaryFolder folder;
  const std::string path = generated(folder, 2000);
  const auto expected = show(read_dataset(path));
  for (int round = 0; round < 5; ++round) {
    fs::remove(cache_path(path));
    std::vector<std::vector<std::string>> rows(4);
    std::vector<std::thread> threads;
    for (auto& result : rows) {
      threads.emplace_back([&] { result = show(read_dataset_cached(path, {.threads = 2}).data); });
    }
    for (std::thread& thread : threads) thread.join();
    for (const auto& result : rows) EXPECT_EQ(result, expected);
    expect_outcomes(path, {}, CacheOutcome::kUsed);
    EXPECT_EQ(folder.files(), 3U);  // train.txt, its cache, test.txt
  }
}

TEST(Cache, DoesNotDependOnThreadsOrChunks) {
  const TemporaryFolder folder;
  const std::string generated_path = generated(folder, 300);
  const std::string comments = folder.write("comments", kLibsvm);  // parsed a second time with exact counts
  for (const std::string& path : {generated_path, comments}) {
    std::set<std::string> contents;
    for (const int threads : {1, 2, 5}) {
      for (const std::size_t chunk_bytes : {std::size_t{1}, std::size_t{1000}, kDefaultChunkBytes}) {
        AtomicFile file(folder.path("cache"));
        CacheSink sink(file);
        sink.finish({}, read_into(sink, path, {.threads = threads}, chunk_bytes));
        const std::optional<Dataset> data = map_cache(file.descriptor(), "cache", {}, {});
        ASSERT_TRUE(data.has_value());
        EXPECT_EQ(show(*data), show(read_dataset(path)));
        file.finish();
        contents.insert(read_file(folder.path("cache")));
      }
    }
    EXPECT_EQ(contents.size(), 1U);
  }
}

// A field of /proc/self/status in bytes.
std::size_t status_bytes(const std::string& field) {
  std::ifstream status("/proc/self/status");
  for (std::string name; status >> name; status.ignore(1000, '\n')) {
    std::size_t kilobytes = 0;
    if (name == field + ":" && status >> kilobytes) return kilobytes * 1024;
  }
  return 0;
}

TEST(Cache, IsWrittenInLittleMemory) {
  if (kSanitized) GTEST_SKIP() << "memory is not measured under a sanitizer";
  const TemporaryFolder folder;
  const std::string text = generated(folder, 50000);
  const std::string packed = folder.write("packed.gz", gzip(read_file(text)));
  for (const std::string& path : {text, packed}) {
    const std::size_t before = status_bytes("VmRSS");
    if (!(std::ofstream("/proc/self/clear_refs") << "5" << std::flush) || before == 0) {
      GTEST_SKIP() << "no peak of memory to read here";
    }
    const CachedDataset cached = read_dataset_cached(path, {.threads = 1});
    const std::size_t peak = status_bytes("VmHWM");
    ASSERT_EQ(cached.outcome, CacheOutcome::kWritten);
    EXPECT_GT(fs::file_size(cache_path(path)), std::size_t{12} << 20);
    EXPECT_LT(peak, before + fs::file_size(cache_path(path)) / 2);
  }
}

}  // namespace
}  // namespace slide
