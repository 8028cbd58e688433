// Fuzz target: a table; its last byte selects format and columns. Learning, rows and messages are equal for
// one chunk and for several; records for prediction are equal in one part and in several.
#include <algorithm>
#include <memory>
#include <optional>

#include "datasets/row_stream.h"
#include "datasets/rows/csr_sink.h"
#include "datasets/rows/sample_weights.h"
#include "datasets/text/labelled_text.h"
#include "datasets/text/table.h"
#include "datasets/text_learner.h"
#include "tests/fuzz/fuzz.h"

namespace slide::fuzz {
namespace {

ReadOptions read_options(unsigned choice) {
  constexpr DataFormat kFormats[] = {DataFormat::kJsonl, DataFormat::kCsv, DataFormat::kTsv,
                                     DataFormat::kAuto};
  ReadOptions options;
  options.format = kFormats[choice & 3];
  options.skip_bad = (choice & 4) != 0;
  const auto chosen = [choice](unsigned bit, const char* one, const char* other) {
    return std::string((choice & bit) != 0 ? one : other);
  };
  options.columns = {chosen(8, "a", "a,b"), chosen(16, "b", "c"), chosen(32, "; ", ","),
                     chosen(64, "w", ""),   chosen(128, "w", ""), chosen(128, "b", "")};
  options.threads = 1;
  return options;
}

std::shared_ptr<const TextModel> learn(const TextSource& source, const Table& table, bool skip_bad) {
  TextOptions words;
  words.min_count = 1;
  return learn_same(source.text.size(), [&](std::size_t chunk) {
    return learn_text(source, words, 1, chunk, {skip_bad, &table, ","});
  });
}

Dataset rows_of(const TextSource& source, const ReadOptions& options, std::size_t chunk_bytes) {
  MemorySink sink;
  const CsrSizes sizes = parse_labelled_text(source, *options.text, options, sink, chunk_bytes);
  return sink.take(sizes, options);
}

// Result of records that arrive in parts of about this many bytes, rounded to lines.
struct Streamed {
  std::size_t rows = 0, entries = 0, bad = 0;
  std::string why;
  bool operator==(const Streamed&) const = default;
};

Streamed stream(std::string_view text, const ReadOptions& options, std::size_t step) {
  Streamed found;
  const auto take = [&](const RowPart& part) {
    check_rows(part.rows);
    found.rows += part.rows.size();
    found.entries += part.rows.feature_entries();
    found.bad += part.bad.size();
  };
  accepted(
      [&] {
        RowStream rows("input", options);
        while (!text.empty()) {
          const std::size_t end = std::min(text.find('\n', std::min(step, text.size())), text.size() - 1) + 1;
          take(rows.read(text.substr(0, end)));
          text.remove_prefix(end);
        }
        take(rows.finish());
      },
      found.why);
  return found;
}

}  // namespace
}  // namespace slide::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace slide;
  using namespace slide::fuzz;
  std::string_view input = text_of(data, size);
  ReadOptions options = read_options(take_choice(input));
  const std::string text(input);
  const TextSource source{text, "input"};
  column_list(text);
  if (options.format == DataFormat::kAuto)
    options.format = detect_table(text, options.columns).value_or(DataFormat::kCsv);
  std::optional<Table> table;
  if (!accepted([&] { table.emplace(text, "input", options.format, options.columns, Labels::kRequired); }))
    return 0;
  options.text = learn(source, *table, options.skip_bad);
  if (options.text == nullptr) return 0;
  const Dataset rows = rows_of(source, options, text.size() + 1);
  check_rows(rows);
  check_same(rows, rows_of(source, options, 1 + text.size() / 3));
  check(stream(text, options, text.size()) == stream(text, options, text.size() / 3),
        "parts have the records of the whole");
  if (rows.weights().empty()) {
    train_and_predict(rows);
  } else {
    accepted([&] { train_and_predict(weighted_rows(rows, rows.weights())); });
  }
  return 0;
}
