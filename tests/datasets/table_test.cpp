// Tests of tables: JSON Lines, CSV and TSV; columns, errors and weights.
#include "datasets/text/table.h"

#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include "datasets/cache.h"
#include "datasets/reader.h"
#include "datasets/row_stream.h"
#include "datasets/rows/read_report.h"
#include "datasets/rows/sample_weights.h"
#include "datasets/text/csv_record.h"
#include "datasets/text/labelled_chunks.h"
#include "datasets/text/labelled_text.h"
#include "datasets/text_learner.h"
#include "tests/datasets/test_files.h"

namespace slide {
namespace {

using Strings = std::vector<std::string>;

const TableColumns kColumns = {"title,body", "tags", ",", ""};

TextOptions bare_words() {
  TextOptions options;
  options.word_ngrams = 1;
  options.min_count = 1;
  options.weighting = Weighting::kCounts;
  return options;
}

// "label,label|text" for each record.
Rows samples_of(std::string_view text, DataFormat format, const TableColumns& columns = kColumns,
                std::size_t chunk_bytes = kDefaultChunkBytes) {
  const Table table(text, "t", format, columns, Labels::kRequired);
  const TextSource whole{text, "t"}, source = without_header(whole, table);
  LineRules rules;
  rules.table = &table;
  rules.lines_before = table.header_lines();
  LabelledChunks chunks(source, rules, chunk_bytes);
  LabelledLine parts;
  Rows rows;
  for (std::size_t chunk = 0; chunk < chunks.size(); ++chunk) {
    chunks.for_each_line(chunk, parts, [&](const LabelledLine& line) {
      rows.push_back(fmt::format("{}|{}", fmt::join(line.labels, ","), line.text));
      if (table.has_weights()) rows.back() += fmt::format("|{}", line.weight);
    });
  }
  chunks.check_faults();
  return rows;
}

std::string fault_of(std::string_view text, DataFormat format, const TableColumns& columns = kColumns) {
  return input_error([&] { samples_of(text, format, columns); });
}

const std::string kCsv =
    "\xef\xbb\xbftags,id,title,body\r\n"
    "\"a, b\",1,One,first\r\n"
    "\r\n"
    "c,2,\"He said \"\"no\"\", twice\",\"two\nlines\"\r\n"
    ",3,5\" disk,\n"
    "a,,4,end";
const Rows kCsvRows = {"a,b|One first", "c|He said \"no\", twice two lines", "|5\" disk", "a|4 end"};

TEST(Csv, HasQuotesLineBreaksAndMarks) {
  for (std::size_t chunk = 1; chunk < kCsv.size(); chunk += 7)
    EXPECT_EQ(samples_of(kCsv, DataFormat::kCsv, kColumns, chunk), kCsvRows) << chunk;
  std::string tabs = kCsv;
  for (char& c : tabs) c = c == ',' ? '\t' : c == '\t' ? ',' : c;
  TableColumns columns = kColumns;
  columns.label_separator = " ";
  EXPECT_EQ(samples_of(tabs, DataFormat::kTsv, columns).at(0), "a,b|One first");
}

TEST(Csv, TellsFaultsWithTheirLines) {
  EXPECT_EQ(fault_of("tags,title,body\na,b,c\n\"x\ny\",b\n", DataFormat::kCsv),
            "t:3:1: 2 fields, but there are 3 columns; put fields with delimiters into quotes");
  EXPECT_EQ(fault_of("tags,title,body\na,\"b\nc\"d,e\n", DataFormat::kCsv),
            "t:3:3: text behind closing quotes; double the quotes within a field");
  EXPECT_EQ(fault_of("tags,title,body\na,\"b,e\n1,2,3\n", DataFormat::kCsv),
            "t:2:3: quotes open here and are never closed; close them, or double a lone quote");
  EXPECT_EQ(fault_of("\n\ntags,title\na,b\n", DataFormat::kCsv),
            "t:3:1: there is no column 'body', which data.text names; the columns are tags, title");
  EXPECT_EQ(fault_of("title,body,title\n", DataFormat::kCsv),
            "t:1:1: two columns are called 'title', which data.text names; rename one");
  EXPECT_EQ(fault_of("title,body\n", DataFormat::kCsv),
            "t:1:1: there is no column 'tags', which data.labels names; the columns are title, body");
  EXPECT_EQ(fault_of("title,body\n", DataFormat::kCsv, {}),
            "t:1:1: this is a table; name its columns of text and labels by data.text and data.labels: there "
            "are title, body");
}

TEST(Csv, WholeRecordsEndBeforeOpenQuotes) {
  EXPECT_EQ(whole_csv_records("a,b\n\"c\nd\"\n", ','), 10U);
  EXPECT_EQ(whole_csv_records("a,b\n\"c\nd", ','), 4U);
  EXPECT_EQ(whole_csv_records("a,b", ','), 3U);
  EXPECT_EQ(whole_csv_records("\"", ','), 0U);
}

TEST(JsonLines, HaveListsNumbersAndEscapes) {
  const std::string text =
      "{\"title\": \"Caf\\u00e9\\n\\\"x\\\"\", \"body\": null, \"tags\": [\"a\", \" b \", 3], \"z\": "
      "{\"title\": 1}}\n"
      "\n"
      "{\"body\": [\"one\", \"two\"], \"tags\": \"c , d\"}\r\n"
      "{\"title\": 12, \"body\": true, \"tags\": null}\n"
      "{\"title\": \"first\", \"title\": \"last\"}";
  const Rows rows = {"a,b,3|Café \"x\"", "c,d|one two", "|12 true", "|last"};
  for (const std::size_t chunk : {1, 50, 1000})
    EXPECT_EQ(samples_of(text, DataFormat::kJsonl, kColumns, chunk), rows) << chunk;
}

TEST(JsonLines, TellFaultsWithTheirLines) {
  const std::string good = "{\"title\": \"x\", \"tags\": []}\n";
  const auto fault = [&](const std::string& line) { return fault_of(good + line, DataFormat::kJsonl); };
  EXPECT_TRUE(fault("{\"title\": \"x\"").starts_with("t:2:14: this is no JSON object on one line ("));
  EXPECT_TRUE(fault("[1]").starts_with("t:2:1: this is no JSON object")) << fault("[1]");
  EXPECT_TRUE(fault("7").starts_with("t:2:1: this is no JSON object")) << fault("7");
  EXPECT_TRUE(fault("{\"title\": \"\xff\"}").starts_with("t:2:12: this is no JSON object on one line ("));
  EXPECT_EQ(fault("{\"titel\": \"x\"}"),
            "t:2:1: there is no column 'title' or 'body', which data.text names; the columns are titel");
  EXPECT_EQ(fault("{\"title\": {\"a\": 1}}"),
            "t:2:1: the column 'title' holds an object; want a string or a list of strings");
  EXPECT_EQ(fault("{\"title\": \"\", \"tags\": [[\"a\"]]}"),
            "t:2:1: the column 'tags' holds a list within a list, or in place of one value");
  EXPECT_EQ(fault("{\"title\": \"\", \"tags\": [\"a\\tb\"]}"),
            "t:2:1: a label with a line break, TAB or other control character in its name; write it without");
  EXPECT_EQ(fault("{\"title\": \"\", \"z\": " + std::string(40, '[') + std::string(40, ']') + "}"),
            "t:2:1: nested deeper than 32 values");
  const std::string object = "{\"title\": \"x\", \"tags\": []}";
  EXPECT_EQ(fault(object + std::string(1, '\0') + object),
            "t:2:27: a NUL byte, which no JSON has; remove it");
}

TEST(Tables, AreFoundByTheirColumns) {
  EXPECT_EQ(detect_table("\n {\"x\": 1}", kColumns), DataFormat::kJsonl);
  EXPECT_EQ(detect_table("body,\"title\",x\n", kColumns), DataFormat::kCsv);
  EXPECT_EQ(detect_table("body\ttitle\n", kColumns), DataFormat::kTsv);
  EXPECT_EQ(detect_table("body\n", kColumns), std::nullopt);
  EXPECT_EQ(detect_table("body,title\n", {}), std::nullopt);
  EXPECT_EQ(table_format_of_name("a.csv.zst"), DataFormat::kCsv);
  EXPECT_EQ(table_format_of_name("a.ndjson"), DataFormat::kJsonl);
  EXPECT_EQ(table_format_of_name("a.tsv"), std::nullopt);
}

TEST(Tables, AreLearntAndReadAsTheirText) {
  const TemporaryFolder folder;
  const std::string text = folder.write("t.txt", "a,b\tOne first\nc\ttwo lines\n\tno\na\tend\n");
  const Strings tables = {
      folder.write("t.csv", "title,body,tags\nOne,first,\"a,b\"\n\"two\n\",lines,c\nno,,\n,end,a\n"),
      folder.write("t.jsonl.gz", gzip("{\"title\":\"One first\",\"tags\":[\"a\",\"b\"]}\n"
                                      "{\"title\":\"two lines\",\"tags\":\"c\"}\n{\"body\":\"no\"}\n"
                                      "{\"body\":\"end\",\"tags\":[\"a\"]}\n"))};
  ReadOptions read;
  read.normalize = false;
  const auto expected_text = learn_text_file(text, read, bare_words());
  read.text = expected_text;
  const Rows expected = show(read_dataset(text, read));
  read.columns = kColumns;
  for (const std::string& table : tables) {
    read.text = learn_text_file(table, read, bare_words());
    ASSERT_NE(read.text, nullptr) << table;
    EXPECT_EQ(show(read_dataset(table, read)), expected) << table;
    for (const CacheOutcome outcome : {CacheOutcome::kWritten, CacheOutcome::kUsed}) {
      const CachedDataset cached = read_dataset_cached(table, read);
      EXPECT_EQ(cached.outcome, outcome) << table;
      EXPECT_EQ(show(cached.data), expected) << table;
    }
  }
}

TEST(Tables, OtherColumnsAreAnotherCache) {
  const TemporaryFolder folder;
  const std::string table = folder.write("t.csv", "title,body,tags,more\na,b,x,x\nb,a,x,x\n");
  ReadOptions read;
  read.columns = {"title", "tags", ",", ""};
  read.text = learn_text_file(table, read, bare_words());
  EXPECT_EQ(read_dataset_cached(table, read).outcome, CacheOutcome::kWritten);
  read.columns.text = "body";
  EXPECT_EQ(read_dataset_cached(table, read).outcome, CacheOutcome::kWritten);
  read.columns.labels = "more";
  EXPECT_EQ(read_dataset_cached(table, read).outcome, CacheOutcome::kWritten);
  EXPECT_EQ(read_dataset_cached(table, read).outcome, CacheOutcome::kUsed);
}

TEST(Tables, HaveWeights) {
  const TableColumns columns = {"title", "tags", ",", "w"};
  const Rows rows = {"a|x|2", "b|y|1", "a|z|0"};
  const std::string csv = "title,w,tags\nx,2,a\ny,,b\nz,0,a\n";
  EXPECT_EQ(samples_of(csv, DataFormat::kCsv, columns), rows);
  EXPECT_EQ(samples_of("{\"title\":\"x\",\"w\":2.0,\"tags\":\"a\"}\n{\"title\":\"y\",\"tags\":\"b\"}\n"
                       "{\"title\":\"z\",\"w\":\"0\",\"tags\":\"a\"}\n",
                       DataFormat::kJsonl, columns),
            rows);
  EXPECT_EQ(fault_of("title,w,tags\nx,-1,a\n", DataFormat::kCsv, columns),
            "t:2:1: the weight '-1' in the column 'w' is no number from 0 on");
  const TemporaryFolder folder;
  const std::string table = folder.write("t.csv", csv);
  ReadOptions read;
  read.columns = columns;
  read.text = learn_text_file(table, read, bare_words());
  const auto weights = [](const Dataset& data) {
    return std::vector<float>(data.weights().begin(), data.weights().end());
  };
  EXPECT_EQ(weights(read_dataset(table, read)), (std::vector<float>{2, 1, 0}));
  for (const CacheOutcome outcome : {CacheOutcome::kWritten, CacheOutcome::kUsed}) {
    const CachedDataset cached = read_dataset_cached(table, read);
    EXPECT_EQ(cached.outcome, outcome);
    EXPECT_EQ(weights(cached.data), (std::vector<float>{2, 1, 0}));
  }
  const Dataset data = read_dataset(table, read), scaled = weighted_rows(data, data.weights());
  EXPECT_EQ(weights(scaled), (std::vector<float>{2 / 1.5F, 1 / 1.5F}));
  EXPECT_EQ(show(scaled), (Rows{show(data)[0], show(data)[1]}));
}

// The rows of a text that arrives in pieces of about `step` bytes.
Rows streamed(const std::string& text, const ReadOptions& options, std::size_t step, Strings* faults) {
  RowStream stream("t", options);
  Rows rows;
  const auto take = [&](const RowPart& part) {
    for (const std::string& row : show(part.rows)) rows.push_back(row);
    faults->insert(faults->end(), part.faults.begin(), part.faults.end());
  };
  for (std::string_view rest = text; !rest.empty();) {
    const std::size_t end = std::min(rest.find('\n', std::min(step, rest.size())), rest.size() - 1) + 1;
    take(stream.read(rest.substr(0, end)));
    rest.remove_prefix(end);
  }
  take(stream.finish());
  return rows;
}

TEST(Tables, ComeInPartsToPredict) {
  ReadOptions options;
  options.normalize = false;
  options.columns = kColumns;
  options.text = learn_text({"x\ta b\ny\tb\n", "t"}, bare_words(), 1);
  const std::string csv = "title,body\na,b\n\n\"b\nb\",a\nb\n,a\n\"b,";
  const std::string json = "{\"title\":\"a b\"}\n\n{\"title\":\"a b\",\"body\":\"b\"}\n7\n{\"body\":\"a\"}\n";
  const Rows rows = {"|0:1 1:1", "|", "|0:2 1:1", "|", "|1:1"};
  for (const std::size_t step : {0, 3, 9, 100}) {
    Strings faults;
    options.format = DataFormat::kCsv;
    Rows with_open = rows;
    with_open.emplace_back("|");
    EXPECT_EQ(streamed(csv, options, step, &faults), with_open) << step;
    EXPECT_EQ(faults,
              (Strings{"t:6:1: 1 fields, but there are 2 columns; put fields with delimiters into quotes",
                       "t:8:1: quotes open here and are never closed; close them, or double a lone "
                       "quote"}));
    faults.clear();
    options.format = DataFormat::kJsonl;
    EXPECT_EQ(streamed(json, options, step, &faults), rows) << step;
    ASSERT_EQ(faults.size(), 1U);
    EXPECT_TRUE(faults[0].starts_with("t:4:1: this is no JSON object")) << faults[0];
  }
}

TEST(Tables, FaultsCanBeLeftOut) {
  const TemporaryFolder folder;
  const std::string table = folder.write("t.jsonl",
                                         "{\"title\":\"a\",\"tags\":\"x\"}\n{\"title\"\n"
                                         "{\"title\":\"b\",\"tags\":\"y\"}\n");
  ReadOptions read;
  read.columns = kColumns;
  EXPECT_TRUE(contains(input_error([&] { learn_text_file(table, read, bare_words()); }), "t.jsonl:2:"));
  ReadReport report;
  read.skip_bad = true;
  read.report = &report;
  read.text = learn_text_file(table, read, bare_words());
  EXPECT_EQ(read_dataset(table, read).size(), 2U);
  EXPECT_EQ(report.bad_rows, 1U);
}

TEST(Tables, WithoutNamedColumnsTellThem) {
  const TemporaryFolder folder;
  const std::string csv = folder.write("t.csv", "id,title,tags\n1,a,b\n");
  const std::string json = folder.write("t.jsonl", "{\"id\": 1, \"title\": \"a\", \"tags\": []}\n");
  for (const std::string& path : {csv, json}) {
    const std::string message = input_error([&] {
      ReadOptions read;
      read.text = learn_text_file(path, read, bare_words());
      read_dataset(path, read);
    });
    EXPECT_TRUE(contains(message, "id, title, tags"));
    EXPECT_TRUE(contains(message, "data.text and data.labels"));
  }
  ReadOptions wrong;
  wrong.columns = {"titel", "tags", ",", ""};
  EXPECT_EQ(
      input_error([&] { learn_text_file(csv, wrong, bare_words()); }),
      csv +
          ":1:1: no table with the columns 'titel', which data.text names; its columns are id, title, tags");
}

}  // namespace
}  // namespace slide
