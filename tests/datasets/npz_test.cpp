// Tests of pairs of SciPy matrices: files written by SciPy, files written here, damage.
#include "datasets/formats/npz.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>

#include "datasets/cache.h"
#include "datasets/formats/detect.h"
#include "datasets/formats/npy.h"
#include "datasets/formats/npy_text.h"
#include "datasets/formats/npz_matrix.h"
#include "datasets/formats/zip_archive.h"
#include "datasets/reader.h"
#include "datasets/rows/file_bytes.h"
#include "engine/base/byte_io.h"
#include "engine/base/rng.h"
#include "tests/datasets/test_files.h"

namespace slide {
namespace {

// scipy.sparse.save_npz of csr_matrix([[0, 1.5, 0], [2, 0, 0]]) and csr_matrix([[True, False], [True,
// True]]).
constexpr std::string_view kFeatures =
    "504b0304140000000800000021008031a38748000000880000000b001400696e64696365732e6e7079010010008800000000"
    "00000048000000000000009bec17ea1b10c9c850c650ad9e925a9c5ca46ea5a06e9369a2aea3a09e965f54529498179f5f94"
    "920a12774bcc294e058a17672416a402f91a463a9a3a0ab50a14002e4606080000504b03041400000008000000210002ecbd"
    "a94c0000008c0000000a001400696e647074722e6e7079010010008c000000000000004c000000000000009bec17ea1b10c9"
    "c850c650ad9e925a9c5ca46ea5a06e9369a2aea3a09e965f54529498179f5f94920a12774bcc294e058a17672416a402f91a"
    "c63a9a3a0ab50a14002e062060046226200600504b030414000000080000002100a3c3749745000000830000000a00140066"
    "6f726d61742e6e707901001000830000000000000045000000000000009bec17ea1b10c9c850c650ad9e925a9c5ca46ea5a0"
    "5e136cacaea3a09e965f54529498179f5f94920a12774bcc294e058a17672416a402f91a9a3a0ab50a1401aee4e22200504b"
    "03041400000008000000210060487e0c4a000000900000000900140073686170652e6e70790100100090000000000000004a"
    "000000000000009bec17ea1b10c9c850c650ad9e925a9c5ca46ea5a06e9369a1aea3a09e965f54529498179f5f94920a1277"
    "4bcc294e058a17672416a402f91a463a9a3a0ab50a14002e2606086086d200504b030414000000080000002100901b7dac4c"
    "0000009000000008001400646174612e6e70790100100090000000000000004c000000000000009bec17ea1b10c9c850c650"
    "ad9e925a9c5ca46ea5a06e9366a1aea3a09e965f54529498179f5f94920a12774bcc294e058a17672416a402f91a463a9a3a"
    "0ab50a14002e0630f8610fa1191c00504b01021403140000000800000021008031a38748000000880000000b000000000000"
    "0000000000800100000000696e64696365732e6e7079504b010214031400000008000000210002ecbda94c0000008c000000"
    "0a0000000000000000000000800185000000696e647074722e6e7079504b0102140314000000080000002100a3c374974500"
    "0000830000000a000000000000000000000080010d010000666f726d61742e6e7079504b0102140314000000080000002100"
    "60487e0c4a0000009000000009000000000000000000000080018e01000073686170652e6e7079504b010214031400000008"
    "0000002100901b7dac4c00000090000000080000000000000000000000800113020000646174612e6e7079504b0506000000"
    "000500050016010000990200000000";
constexpr std::string_view kLabels =
    "504b0304140000000800000021007243a277490000008c0000000b001400696e64696365732e6e7079010010008c00000000"
    "00000049000000000000009bec17ea1b10c9c850c650ad9e925a9c5ca46ea5a06e9369a2aea3a09e965f54529498179f5f94"
    "920a12774bcc294e058a17672416a402f91ac63a9a3a0ab50a14002e062860046200504b030414000000080000002100678b"
    "01114c0000008c0000000a001400696e647074722e6e7079010010008c000000000000004c000000000000009bec17ea1b10"
    "c9c850c650ad9e925a9c5ca46ea5a06e9369a2aea3a09e965f54529498179f5f94920a12774bcc294e058a17672416a402f9"
    "1ac63a9a3a0ab50a14002e062060046266200600504b030414000000080000002100a3c3749745000000830000000a001400"
    "666f726d61742e6e707901001000830000000000000045000000000000009bec17ea1b10c9c850c650ad9e925a9c5ca46ea5"
    "a05e136cacaea3a09e965f54529498179f5f94920a12774bcc294e058a17672416a402f91a9a3a0ab50a1401aee4e2220050"
    "4b030414000000080000002100fe48d4c049000000900000000900140073686170652e6e7079010010009000000000000000"
    "49000000000000009bec17ea1b10c9c850c650ad9e925a9c5ca46ea5a06e9369a1aea3a09e965f54529498179f5f94920a12"
    "774bcc294e058a17672416a402f91a463a9a3a0ab50a14002e26060880d100504b03041400000008000000210057a297a247"
    "0000008300000008001400646174612e6e707901001000830000000000000047000000000000009bec17ea1b10c9c850c650"
    "ad9e925a9c5ca46ea5a05e9364a8aea3a09e965f54529498179f5f94920a12774bcc294e058a17672416a402f91ac63a9a3a"
    "0ab50a14002e46464600504b01021403140000000800000021007243a277490000008c0000000b0000000000000000000000"
    "800100000000696e64696365732e6e7079504b0102140314000000080000002100678b01114c0000008c0000000a00000000"
    "00000000000000800186000000696e647074722e6e7079504b0102140314000000080000002100a3c3749745000000830000"
    "000a000000000000000000000080010e010000666f726d61742e6e7079504b0102140314000000080000002100fe48d4c049"
    "0000009000000009000000000000000000000080018f01000073686170652e6e7079504b0102140314000000080000002100"
    "57a297a24700000083000000080000000000000000000000800113020000646174612e6e7079504b05060000000005000500"
    "16010000940200000000";

std::string from_hex(std::string_view hex) {
  std::string bytes;
  for (std::size_t i = 0; i < hex.size(); i += 2) {
    bytes += static_cast<char>(std::stoi(std::string(hex.substr(i, 2)), nullptr, 16));
  }
  return bytes;
}

ReadOptions as_they_are(int threads = 1) {
  ReadOptions options;
  options.normalize = false;
  options.threads = threads;
  return options;
}

void write_archive(const std::string& path, const std::vector<ZipMember>& members,
                   std::uint64_t zip64_from = kZip64From) {
  AtomicFile file(path, FileUse::kAnyOrder);
  write_zip(file, members, zip64_from);
  file.finish();
}

class NpzTest : public ::testing::Test {
 protected:
  void write_pair(const std::string& features, const std::string& labels) {
    folder_.write("X.t.npz", features);
    folder_.write("Y.t.npz", labels);
  }
  Dataset read(const ReadOptions& options = as_they_are()) {
    return read_dataset(folder_.path("X.t.npz"), options);
  }
  std::string fault(const ReadOptions& options = as_they_are()) {
    return input_error([&] { read(options); });
  }

  TemporaryFolder folder_;
};

TEST_F(NpzTest, ReadsWhatScipyWrites) {
  write_pair(from_hex(kFeatures), from_hex(kLabels));
  const Dataset data = read();
  EXPECT_EQ(show(data), (Rows{"0|1:1.5", "0,1|0:2"}));
  EXPECT_EQ(data.feature_count(), 3U);
  EXPECT_EQ(data.label_count(), 2U);
  EXPECT_EQ(show(read_dataset(folder_.path("X.t.npz"))), (Rows{"0|1:1", "0,1|0:1"})) << "to unit length";
  EXPECT_EQ(detect_file(folder_.path("X.t.npz")), DataFormat::kNpz);
}

TEST_F(NpzTest, PairsAreFoundByName) {
  EXPECT_EQ(npz_paths("a/X.trn.npz").labels, "a/Y.trn.npz");
  EXPECT_EQ(npz_paths("X.npz").labels, "Y.npz");
  EXPECT_EQ(npz_paths("a.npz,b.npz").features, "a.npz");
  EXPECT_EQ(npz_paths("a.npz,b.npz").labels, "b.npz");
  EXPECT_TRUE(contains(input_error([] { npz_paths("X/a.npz"); }), "FEATURES.npz,LABELS.npz"));
  const std::string features = folder_.write("f.npz", from_hex(kFeatures));
  const std::string labels = folder_.write("l.npz", from_hex(kLabels));
  EXPECT_EQ(read_dataset(features + "," + labels, as_they_are()).size(), 2U);
  folder_.write("X.t.npz", from_hex(kFeatures));
  EXPECT_TRUE(contains(fault(), "Y.t.npz: no such file"));
}

TEST_F(NpzTest, WhatIsWrittenIsReadBack) {
  Rng rng(11, Purpose::kTest);
  DatasetArrays arrays;
  for (int row = 0; row < 10000; ++row) {
    for (std::uint32_t id = rng.below(9); id < 50; id += 1 + rng.below(20)) {
      arrays.feature_ids.push_back(id);
      arrays.feature_values.push_back(static_cast<float>(rng.normal()));
    }
    for (std::uint32_t id = rng.below(9); id < 9; id += 1 + rng.below(9)) arrays.label_ids.push_back(id);
    arrays.feature_offsets.push_back(arrays.feature_ids.size());
    arrays.label_offsets.push_back(arrays.label_ids.size());
  }
  const Dataset data(std::move(arrays), 60, 9);
  write_npz(data, npz_paths(folder_.path("X.t.npz")));
  const Dataset again = read();
  EXPECT_EQ(show(again), show(data));
  EXPECT_EQ(again.feature_count(), 60U);
  EXPECT_EQ(again.label_count(), 9U);
  EXPECT_EQ(show(read(as_they_are(3))), show(data));
  EXPECT_EQ(show(read_dataset_to_disk(folder_.path("X.t.npz"), as_they_are(2), folder_.path("o"))),
            show(data));
  EXPECT_EQ(read_dataset_cached(folder_.path("X.t.npz"), as_they_are()).outcome, CacheOutcome::kWritten);
  EXPECT_EQ(show(read_dataset_cached(folder_.path("X.t.npz"), as_they_are()).data), show(data));
  const std::string bytes = read_file(folder_.path("X.t.npz"));
  write_npz(data, npz_paths(folder_.path("X.t.npz")));
  EXPECT_EQ(read_file(folder_.path("X.t.npz")), bytes) << "the same data, the same bytes";
}

TEST_F(NpzTest, ScoresHaveNamesAndRanks) {
  const std::string path = folder_.path("s.npz");
  const auto read_scores = [&] {
    const FileBytes bytes(path);
    return read_npz_scores({bytes.text(), path});
  };
  NpzEntries entries{{0, 2, 3}, {2, 0, 1},   {0.5F, 0.5F, 1},
                     {0, 1, 0}, {"ann", ""}, {"a b", "\u00e9\u4e16\U0001F3BB", "x\xff\xf5\x80\x80\x80"}};
  write_npz_matrix(path, entries, 3);
  const NpzScores scores = read_scores();
  EXPECT_EQ(scores.matrix.ids, (std::vector<std::uint64_t>{0, 2, 1}));
  EXPECT_EQ(scores.ranks, (std::vector<std::uint64_t>{1, 0, 0})) << "with their entries";
  EXPECT_EQ(scores.users, (std::vector<std::string>{"ann", ""}));
  EXPECT_EQ(scores.labels,
            (std::vector<std::string>{"a b", "\u00e9\u4e16\U0001F3BB", "x\uFFFD\uFFFD\uFFFD\uFFFD\uFFFD"}));
  entries.users = {"one"};
  write_npz_matrix(path, entries, 3);
  EXPECT_TRUE(contains(input_error(read_scores), "s.npz: users has 1 names for 2; give one for each"));
  entries.users.clear();
  entries.ranks.pop_back();
  write_npz_matrix(path, entries, 3);
  EXPECT_TRUE(contains(input_error(read_scores), "ranks has no whole number for each score"));
  entries = {{0, 2}, {1, 1}, {1, 2}};
  write_npz_matrix(path, entries, 3);
  EXPECT_TRUE(contains(input_error(read_scores), "row 0 has column 1 twice"));
}

// Names as NumPy writes them: bytes, numbers, objects.
TEST_F(NpzTest, NamesAreTextBytesOrNumbers) {
  const auto names = [](std::string_view type, std::string_view shape, std::string_view items) {
    return read_npy_texts(npy_bytes(type, shape, items), {"s.npz", "users", "advice"});
  };
  using Listed = std::vector<std::string>;
  EXPECT_EQ(names("|S2", "(2,)", std::string_view("a\0bc", 4)), (Listed{"a", "bc"}));
  const std::int64_t numbers[] = {-7, 42};
  EXPECT_EQ(names("<i8", "(2,)", bytes_of(numbers)), (Listed{"-7", "42"}));
  EXPECT_EQ(names("<U1", "(0,)", ""), Listed());
  const char32_t odd[] = {0xD800, 0x110000};
  EXPECT_EQ(names("<U1", "(2,)", bytes_of(odd)), (Listed{"\uFFFD", "\uFFFD"}));
  EXPECT_TRUE(contains(input_error([&] { names("<f8", "(2,)", bytes_of(numbers)); }), "users holds no text"));
  EXPECT_TRUE(contains(input_error([&] { names("<i8", "(2,1)", bytes_of(numbers)); }), "users is no list"));
  EXPECT_TRUE(
      contains(input_error([&] { names("|O", "(2,)", bytes_of(numbers)); }), "'|O', which is not read"));
}

TEST_F(NpzTest, LabelsOtherThanZeroAndOneAreAFault) {
  write_pair(from_hex(kFeatures), from_hex(kLabels));
  for (const float value : {-1.0F, 0.5F, 2.0F}) {
    NpzEntries labels;
    labels.ends = {0, 1, 2};
    labels.ids = {1, 0};
    labels.values = {0, value};
    write_npz_matrix(folder_.path("Y.t.npz"), std::move(labels), 2);
    EXPECT_TRUE(
        contains(fault(), fmt::format("Y.t.npz: labels: row 1, column 0 is {}; give 1 where", value)));
  }
}

TEST_F(NpzTest, Faults) {
  const std::string features = from_hex(kFeatures), labels = from_hex(kLabels);
  write_pair(features.substr(0, features.size() / 2), labels);
  EXPECT_TRUE(contains(fault(), "X.t.npz: this is no whole .npz file"));
  write_pair(features, "no zip");
  EXPECT_TRUE(contains(fault(), "Y.t.npz: this is no whole .npz file"));
  write_pair(features, labels);
  ReadOptions options = as_they_are();
  options.feature_limit = 1;
  EXPECT_TRUE(contains(fault(options), "X.t.npz: feature 1 is out of range; ids must be below 1"));
  options = as_they_are();
  options.label_limit = 1;
  EXPECT_TRUE(contains(fault(options), "Y.t.npz: label 1 is out of range"));
  const DatasetArrays one = {{0, 0}, {}, {}, {0, 0}, {}};
  write_npz(Dataset(one, 3, 2), {folder_.path("X.o.npz"), folder_.path("Y.t.npz")});
  EXPECT_TRUE(contains(fault(), "Y.t.npz: 1 rows of labels, but"));
}

TEST_F(NpzTest, ValuesOfOnePlaceThatSumToMoreThanAFloatHoldsAreAFault) {
  write_pair(from_hex(kFeatures), from_hex(kLabels));
  write_npz_matrix(folder_.path("X.t.npz"), {{0, 1, 4}, {2, 1, 2, 1}, {1, 3e38F, 1, 3e38F}}, 3);
  EXPECT_TRUE(contains(fault(), "X.t.npz: row 1: the values of column 1 sum to more than a float holds"));
  write_npz_matrix(folder_.path("X.t.npz"), {{0, 1, 4}, {2, 1, 2, 1}, {1, 3e38F, 1, -3e38F}}, 3);
  EXPECT_EQ(show(read()), (Rows{"0|2:1", "0,1|1:0 2:1"}));
}

TEST_F(NpzTest, WhatUnpacksToMoreThanIsFreeIsRefused) {
  if (kSanitized) GTEST_SKIP() << "memory is not limited under a sanitizer";
  write_pair(from_hex(kFeatures), from_hex(kLabels));
  const auto write = [&](std::size_t entries, std::string_view type, std::size_t width) {
    const std::int64_t shape[] = {2, 3};
    const std::int64_t ends[] = {0, 1, static_cast<std::int64_t>(entries)};
    write_archive(folder_.path("X.t.npz"), {{"format.npy", npy_bytes("|S3", "()", "csr")},
                                            {"shape.npy", npy_bytes("<i8", "(2,)", bytes_of(shape))},
                                            {"indptr.npy", npy_bytes("<i8", "(3,)", bytes_of(ends))},
                                            {"indices.npy", npy_bytes(type, fmt::format("({},)", entries),
                                                                      std::string(entries * width, '\0'))}});
    const AddressSpaceLimit limit(std::size_t{80} << 20);
    return fault();
  };
  for (const std::string& message : {write(30'000'000, "<i4", 4), write(15'000'000, "|u1", 1)})
    EXPECT_TRUE(message.starts_with(folder_.path("X.t.npz") + ": unpacked it takes 120 MB of memory"))
        << message;
}

TEST_F(NpzTest, ArchivesOfNumbersOf64BitsAreReadBack) {
  const std::vector<ZipMember> members = {
      {"a.npy", std::string(100'000, 'a') + "end"}, {"b.npy", ""}, {"c.npy", "c"}};
  for (const std::uint64_t zip64_from : {std::uint64_t{0}, std::uint64_t{100}, kZip64From}) {
    const std::string path = folder_.path(fmt::format("{}.zip", zip64_from));
    write_archive(path, members, zip64_from);
    const std::string bytes = read_file(path);
    const NamedBytes file = {bytes, path};
    const ZipReader archive(file);
    for (const ZipMember& member : members) EXPECT_EQ(archive.read(member.name), member.bytes) << zip64_from;
    EXPECT_EQ(bytes.find("PK\x06\x06") != std::string::npos, zip64_from < kZip64From);
  }
}

// Corrupts the directory entry of a member; the directory begins with the last entry signature.
TEST_F(NpzTest, MembersThatCannotBeReadSayWhy) {
  write_archive(folder_.path("X.t.npz"), {{"format.npy", std::string(5000, 'x')}});
  const std::string whole = read_file(folder_.path("X.t.npz"));
  const std::size_t entry = whole.rfind("PK\x01\x02");
  struct Case {
    std::size_t at;
    char value;
    const char* fault;
  };
  for (const Case& c : {Case{8, 1, "is encrypted"},
                        {10, 12, "packed otherwise than by deflate"},
                        {16, 0, "its checksum is another"},
                        {20, 5, "cut off"},
                        {24, 0, "longer than it says"},
                        {25, 0x7F, "shorter than it says"},
                        {26, 1, "its size cannot be true"},
                        {42, 1, "a member is missing"},
                        {0, 0, "its directory is damaged"}}) {
    std::string damaged = whole;
    damaged[entry + c.at] = c.value;
    write_pair(damaged, from_hex(kLabels));
    ReadOptions options = as_they_are();
    options.format = DataFormat::kNpz;
    EXPECT_TRUE(contains(fault(options), c.fault));
  }
}

// Every byte changed: either an error in one line, or equal numbers of rows (bytes the archive does not use).
TEST_F(NpzTest, DamageIsNoCrash) {
  const std::string features = from_hex(kFeatures);
  for (std::size_t at = 0; at < features.size(); at += 7) {
    std::string damaged = features;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x41);
    write_pair(damaged, from_hex(kLabels));
    const std::string message = input_error([&] {
      EXPECT_EQ(read_dataset(folder_.path("X.t.npz"),
                             [] {
                               ReadOptions options = as_they_are();
                               options.format = DataFormat::kNpz;
                               return options;
                             }())
                    .size(),
                2U);
    });
    EXPECT_EQ(message.find('\n'), std::string::npos) << at;
  }
}

TEST_F(NpzTest, FoldersThatCannotBeWritten) {
  const DatasetArrays one = {{0, 0}, {}, {}, {0, 0}, {}};
  const Dataset data(one, 3, 2);
  EXPECT_THROW(write_npz(data, npz_paths(folder_.path("missing/X.npz"))), Error);
}

// The error of writing a pair under a file size limit, which simulates a full disk.
std::string written_within(rlim_t bytes, const Dataset& data, const NpzPaths& paths) {
  rlimit old{};
  getrlimit(RLIMIT_FSIZE, &old);
  auto* handler = signal(SIGXFSZ, SIG_IGN);
  const rlimit low = {bytes, old.rlim_max};
  setrlimit(RLIMIT_FSIZE, &low);
  const std::string message = run_error([&] { write_npz(data, paths); });
  setrlimit(RLIMIT_FSIZE, &old);
  signal(SIGXFSZ, handler);
  return message;
}

TEST_F(NpzTest, AFullDiskLeavesThePairBefore) {
  const std::string features = from_hex(kFeatures), labels = from_hex(kLabels);
  write_pair(features, labels);
  const std::size_t files = folder_.files();
  const NpzPaths paths = npz_paths(folder_.path("X.t.npz"));
  const std::string message = written_within(100, read(), paths);
  EXPECT_TRUE(message.starts_with(paths.features + ": cannot be written")) << message;
  DatasetArrays many = {{0, 0}, {}, {}, {0, 5000}, {}};
  for (std::uint32_t i = 0; i < 5000; ++i) many.label_ids.push_back(100 * i + i * i % 97);
  const std::string later = written_within(3000, Dataset(many, 3, 600'000), paths);
  EXPECT_TRUE(later.starts_with(paths.labels + ": cannot be written")) << later;
  EXPECT_EQ(read_file(paths.features), features) << "no features without their labels";
  EXPECT_EQ(read_file(paths.labels), labels);
  EXPECT_EQ(folder_.files(), files);
}

}  // namespace
}  // namespace slide
