// What readers warn of: each kind of doubtful text, and its look-alikes that are as they should be.
#include <gtest/gtest.h>

#include <numeric>
#include <string>
#include <string_view>
#include <vector>

#include "datasets/cache.h"
#include "datasets/data_warnings.h"
#include "datasets/reader.h"
#include "datasets/rows/text_encoding.h"
#include "datasets/text_learner.h"
#include "tests/datasets/test_files.h"

namespace slide {
namespace {

using namespace std::string_view_literals;

std::vector<std::string> warnings_of(std::string_view text, DataFormat format, std::string separator = ",") {
  ReadOptions options;
  options.format = format;
  options.threads = 2;
  options.columns.label_separator = std::move(separator);
  if (is_table(format)) options.columns.text = "text", options.columns.labels = "tags";
  ReadReport report;
  add_text_warnings({text, "f"}, options, report);
  return report.warnings;
}

// Exactly one, with these parts.
void expect_one(std::string_view text, DataFormat format, std::initializer_list<std::string_view> parts,
                const std::string& separator = ",") {
  const std::vector<std::string> warnings = warnings_of(text, format, separator);
  ASSERT_EQ(warnings.size(), 1U) << text;
  for (const std::string_view part : parts) EXPECT_TRUE(contains(warnings.front(), part));
}

void expect_none(std::string_view text, DataFormat format, const std::string& separator = ",") {
  for (const std::string& warning : warnings_of(text, format, separator)) ADD_FAILURE() << text << warning;
}

constexpr DataFormat kText = DataFormat::kText, kCsv = DataFormat::kCsv, kTsv = DataFormat::kTsv,
                     kJsonl = DataFormat::kJsonl;

TEST(DataWarnings, LabelsPartedByAnotherSeparator) {
  expect_one("text,tags\nred ball,x\nblue cat,a|b\n", kCsv,
             {"f:3: ", "'|'", "a|b", "data.label_separator=|"});
  expect_one("text\ttags\nred ball\ta;b\n", kTsv, {"f:2: ", "data.label_separator=;"});
  expect_one("{\"text\":\"red\",\"tags\":\"a|b\"}\n", kJsonl, {"f:1: ", "data.label_separator=|"});
  expect_one("music;dance\tthe violin\nnature\tbirds\n", kText, {"f:1: ", "data.label_separator=;"});
  expect_one("text,tags\nred,\"a,b\"\nblue,\"b,c\"\n", kCsv, {"data.label_separator=,"}, "|");
  expect_one("text,tags\nred,<http://x/1> <http://x/2>\n", kCsv, {"f:2: ", "blanks"});
}

TEST(DataWarnings, NumbersBehindTheLabelThatMayBeLabels) {
  expect_one("1 2 3:0.5\n2 3 5:1\n1 2 7:1\n", DataFormat::kLibsvm, {"f:1:3: '2' ", "commas"});
  expect_one("2 9 4\n1 2:1\n1 2 3:0.5\n", DataFormat::kXmc, {"f:3:3: '2' "});
  expect_none("1 2 3\n2 3 5\n", DataFormat::kLibsvm);  // no feature has a value
  expect_none("1,2 3:0.5\n2 5:1 # 3 4:1\n 7 8:1\n\n", DataFormat::kLibsvm);
  std::string rare = "1 2 3:0.5\n";
  for (int i = 0; i < 20; ++i) rare += "1 3:0.5 7 9:1\n";
  expect_none(rare, DataFormat::kLibsvm);
}

TEST(DataWarnings, ColumnsOfWeightsThatNoObjectHas) {
  ReadOptions options;
  options.format = kJsonl;
  options.columns.text = "text", options.columns.labels = "tags", options.columns.weight = "wieght";
  const std::string plain = "{\"text\":\"a\",\"tags\":[\"x\"]}\n",
                    weighted = "{\"text\":\"a\",\"tags\":[\"x\"],\"wieght\":2}\n";
  ReadReport report, good;
  add_text_warnings({plain + plain, "f"}, options, report);
  ASSERT_EQ(report.warnings.size(), 1U);
  EXPECT_TRUE(contains(report.warnings.front(), "has 'wieght', which data.weight names"));
  const std::string some = plain + weighted;
  add_text_warnings({some, "f"}, options, good);
  EXPECT_EQ(good.warnings.size(), 0U);
}

TEST(DataWarnings, FeaturesOfXmcTextCountFromZero) {
  ReadOptions options;
  options.format = DataFormat::kXmc;
  options.one_based = true;
  ReadReport report;
  add_text_warnings({"1 9 4\n1 2:1\n", "f"}, options, report);
  ASSERT_EQ(report.warnings.size(), 1U);
  EXPECT_TRUE(contains(report.warnings.front(), "data.one_based"));
}

TEST(DataWarnings, SeparatorsThatAreNoFault) {
  expect_none("text,tags\nred ball,\"a,b|c\"\nblue cat,a|b\n", kCsv);
  expect_none("text,tags\nred ball,a|b\nblue cat,\"c,d\"\n", kCsv, "|");
  expect_none("{\"text\":\"red\",\"tags\":[\"a|b\",\"c;d\"]}\n", kJsonl);
  expect_none("{\"text\":\"a|b\",\"tags\":\"\"}\n", kJsonl);
  std::string rare = "text,tags\nsome words,a|b\n";
  for (int i = 0; i < 30; ++i) rare += "some words,a\n";
  expect_none(rare, kCsv);
}

TEST(DataWarnings, ListsAsPythonWritesThem) {
  expect_one("text,tags\nred ball,\"['a', 'b']\"\nblue cat,\"['b']\"\n", kCsv,
             {"f:2: ", "['a', 'b']", "data.label_separator"});
  expect_one("['a', 'b']\tred\n['b']\tblue\n", kText, {"f:1: ", "['a', 'b']"});
  expect_one("{\"text\":\"red\",\"tags\":\"{'a', 'b'}\"}\n", kJsonl, {"f:1: "});
  expect_none("text,tags\nred ball,array[0]\nblue cat,(note)\n", kCsv);
}

TEST(DataWarnings, WholeNumbersAsDecimals) {
  expect_one("text,tags\nred,1.0\nblue,\ngreen,20.0\n", kCsv,
             {"f:2: ", "became decimals, 1.0", "'1' in another"});
  expect_one("1.0\tred\n2.0\tblue\n", kText, {"f:1: ", "became decimals"});
  expect_none("text,tags\nred,1.0\nblue,2.5\n", kCsv);
  expect_none("text,tags\nred,1.0\nblue,.0\n", kCsv);
}

TEST(DataWarnings, LabelsWithWeights) {
  expect_one("eggs:0.5,milk:1\tred\nmilk:0.7\tblue\neggs\tred\n", kText,
             {"f:1: ", "'eggs:0.5'", "write 'eggs'"});
  expect_one("__label__eggs:0.5 __label__milk:1. red\n__label__milk blue\n", kText, {"f:1: ", "'eggs:0.5'"});
  expect_one("text,tags\nred,eggs\nblue,\"milk,eggs:.25\"\n", kCsv, {"f:3: ", "'eggs:.25'"});
  expect_none("psalm:3\tred\ntime 10:30\tblue\n", kText);
  expect_none("v:1.0.2\tred\n:0.5\tblue\nx:.\tgreen\n", kText);
  expect_none("scale:0.5\tred\nart\tblue\ncity\tgreen\n", kText);
}

TEST(DataWarnings, LabelsInQuotes) {
  expect_one("\"a\"\t\"red ball, big\"\n\"b,c\"\t\"blue\"\n", kText,
             {"f:1: ", "quotes, \"a\"", "data.labels"});
  expect_none("\"a\" and b\tred\na\t\"blue\"\n\"a\tred\n", kText);
  expect_none("text\ttags\n\"red\"\t\"a\"\n", kTsv);
}

TEST(DataWarnings, TextsThatAreDecimals) {
  expect_one("a\t3.14\nb\t-2.5\na\t.5\n", kText, {"f:1: ", "3.14", "id:value"});
  expect_one("text,tags\n3.14,a\n2.5,b\n7.,a\n", kCsv, {"f:2: ", "3.14"});
  expect_one("{\"text\":3.14,\"tags\":\"a\"}\n{\"text\":2.5,\"tags\":\"b\"}\n{\"text\":1.5,\"tags\":\"a\"}\n",
             kJsonl, {"f:1: "});
  expect_none("a\t3.14\nb\t2.5\na\tpi\n", kText);
  expect_none("a\t3\nb\t2\na\t1.2.3\n", kText);
}

TEST(DataWarnings, LinesOfColumnNames) {
  expect_one("labels\ttext\nmusic\tred violin\nart\tblue cat\n", kText,
             {"f:1: ", "labels, text", "data.text=text and data.labels=labels"});
  expect_one("\nid\tText\tTags\n1\tred violin\ta\n2\tblue cat\tb\n", kText, {"f:2: ", "data.text=Text"});
  expect_none("text\tred violin\nlabel\tblue cat\nart\tlabel\n", kText);
  expect_none("topic\ttext\nmusic\tred\ntopic\tblue cat\n", kText);  // a label that comes again
  expect_one("text,tags\nred,a\nblue,b\ntext,tags\ngreen,a\n", kCsv, {"f:4: ", "once more"});
  expect_none("text,tags\nred,a\ntext,tags of it\n", kCsv);
}

TEST(DataWarnings, LabelsInAnotherColumn) {
  expect_one(
      "17\tmusic dance\tthe violin and the cello\n18\tnature\tbirds and trees sing\n"
      "19\tmusic\tcello concert violin\n20\tnature\ttrees birds\n",
      kText, {"f:1: ", "3 columns", "second", "music dance"});
  expect_one(
      "Birds of the northern forest, a guide\t<http://x/1> <http://x/2>\nViolin making, old and "
      "new\t<http://x/3>\n"
      "Trees, birds and lakes\t<http://x/1>\nOld violins\t<http://x/3>\n",
      kText, {"f:1: ", "second column", "<http://x/1>"});
  expect_none("music\tthe violin\tand the cello\nnature\tbirds\tand trees\nmusic\tcello\tconcert\n", kText);
  expect_none("music\tred\nart\tred\nsport\tblue\n", kText);
  std::string swapped, categories;
  for (int i = 0; i < 40; ++i) {
    swapped += fmt::format("the river of day {}\t{}\n", i % 38, i % 3 == 0 ? "nature" : "art");
    categories += fmt::format("home and garden {}\tlamp\n", i % 10);
  }
  expect_one(swapped, kText, {"f:1: ", "second column", "nature"});
  expect_none(categories, kText);
}

TEST(DataWarnings, PrefixesWithoutABlankBetween) {
  expect_one("__label__a,__label__b red\n", kText, {"f:1: ", "a,__label__b"});
  expect_none("__label__a __label__b red | blue; green\n", kText);
}

TEST(DataWarnings, SeveralLabelsBehindAPrefix) {
  expect_one("__label__nature,extra a river\n__label__nature birds\n", kText,
             {"f:1: ", "'nature,extra'", "separated by ','", "write __label__NAME for each"});
  std::string many = "birds __label__nature\nmore __label__extra\n";
  for (int i = 0; i < 50; ++i) many += "a river __label__art\n";
  expect_none(many + "__label__rare|odd x\n", kText);
  expect_none("__label__a,b x\n", kText);
  expect_one("__label__a,b x\n__label__b,c x\n__label__c,d x\n", kText, {"f:1: ", "'a,b'"});
  expect_one(many + "__label__nature|extra x\n", kText, {"f:53: ", "separated by '|'"});
  expect_none(many + "__label__,a __label__b; x\n", kText);
}

TEST(DataWarnings, TextThatIsNotUtf8) {
  expect_one("text,tags\nblue,a\ncaf\xe9 au lait,b\n", kCsv, {"f:3: ", "UTF-8", "Latin-1", "Windows-1252"});
  expect_one("a\tblue\nb\tthe \x93red\x94 one\n", kText, {"f:2: ", "looks like Windows-1252"});
  expect_one("__label__a \xcf\xf0\xe8\xe2\xe5\xf2 \xec\xe8\xf0\n", kText, {"f:1: ", "KOI8-R"});
  expect_one("u caf\xe9 i1\nv i1 i2\n", DataFormat::kInteractions, {"f:1: ", "UTF-8"});
  expect_none("text,tags\ncaf\xc3\xa9,\xe2\x82\xac \xf0\x9f\x98\x80\n", kCsv);
  std::string late(3U << 20, 'a');
  for (std::size_t i = 79; i < late.size(); i += 80) late[i] = '\n';
  late = "l\tfirst\nl\t" + late + "caf\xe9\n";
  EXPECT_TRUE(contains(warnings_of(late, kText).front(), fmt::format("f:{}: ", 2 + (3U << 20) / 80)));
}

// Against the definition: every string of up to three bytes out of those at the edges of the ranges.
TEST(DataWarnings, Utf8IsCheckedByItsDefinition) {
  EXPECT_FALSE(first_no_utf8("0123456789\xed\x9f\xbf\xee\x80\x80\xf4\x8f\xbf\xbf"));
  for (const std::string_view bad :
       {"\x80"sv, "\xc1\xbf"sv, "\xe0\x9f\xbf"sv, "\xed\xa0\x80"sv, "\xf0\x8f\xbf\xbf"sv,
        "\xf4\x90\x80\x80"sv, "\xf5\x80\x80\x80"sv, "\xe2\x82"sv, "\xc3"sv}) {
    EXPECT_EQ(first_no_utf8("12345678" + std::string(bad) + "12345678"), 8U) << bad;
    EXPECT_EQ(first_no_utf8(bad), 0U) << bad;
  }
}

TEST(DataWarnings, EachLabelOnce) {
  const auto of = [](std::vector<std::uint32_t> labels) {
    DatasetArrays arrays;
    for (const std::uint32_t label : labels) {
      arrays.label_ids.push_back(label);
      arrays.label_offsets.push_back(arrays.label_ids.size());
      arrays.feature_offsets.push_back(0);
    }
    ReadReport report;
    add_label_warnings(Dataset(std::move(arrays), 1, 100), "f", report);
    return report.warnings;
  };
  ASSERT_EQ(of({3, 1, 7}).size(), 1U);
  EXPECT_EQ(of({3, 1, 7}).front(),
            "f: each of its 3 labels occurs once, as ids or texts do; check that its labels are where they "
            "are read");
  EXPECT_TRUE(of({3, 1, 3, 7}).empty());
  EXPECT_TRUE(of({3, 1}).empty());
  ASSERT_EQ(of({3, 3, 3}).size(), 1U);
  EXPECT_TRUE(contains(of({3, 3, 3}).front(), "all 3 samples have the same label"));
  EXPECT_TRUE(of({3, 3}).empty());
  std::vector<std::uint32_t> many(100);
  std::iota(many.begin(), many.end(), 0U);
  many.insert(many.end(), {0, 1, 2, 3, 4, 5, 6, 7, 8, 9});
  ASSERT_EQ(of(many).size(), 1U);
  EXPECT_TRUE(contains(of(many).front(), "90 of its 100 labels occur once"));
  many.push_back(10);
  EXPECT_TRUE(of(many).empty());
}

TEST(DataWarnings, ComeWithEveryReadingAndFromACache) {
  const TemporaryFolder folder;
  const std::string path = folder.path("t.tsv");
  std::ofstream(path) << "a;b\tred ball\na\tblue ball\n";
  TextOptions words;
  words.min_count = 1;
  ReadOptions options;
  options.text = learn_text_file(path, options, words);
  ReadReport report;
  options.report = &report;
  read_dataset(path, options);
  ASSERT_EQ(report.warnings.size(), 1U);
  const std::vector<std::string> first = report.warnings;
  for (const CacheOutcome wanted : {CacheOutcome::kWritten, CacheOutcome::kUsed}) {
    report = {};
    ASSERT_EQ(read_dataset_cached(path, options).outcome, wanted);
    EXPECT_EQ(report.warnings, first);
  }
}

TEST(DataWarnings, OfManyFilesOnceEach) {
  ReadReport all, one;
  one.add_warning("f:1: x");
  all.add(one);
  all.add(one);
  EXPECT_EQ(all.warnings, std::vector<std::string>{"f:1: x"});
  for (int i = 0; i < 100; ++i) all.add_warning(fmt::format("f:{}: y", i));
  EXPECT_EQ(all.warnings.size(), ReadReport::kMaxWarnings);
}

}  // namespace
}  // namespace slide
