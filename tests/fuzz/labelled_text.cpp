// Fuzz target: labelled text: learning, its samples, and the same bytes as text for prediction. The last byte
// selects the text options.
#include <algorithm>
#include <memory>

#include "datasets/rows/csr_sink.h"
#include "datasets/text/labelled_text.h"
#include "datasets/text/text_model.h"
#include "datasets/text_learner.h"
#include "tests/fuzz/fuzz.h"

namespace slide::fuzz {
namespace {

using Learnt = std::shared_ptr<const TextModel>;

TextOptions text_options(unsigned choice) {
  TextOptions options;
  options.min_count = 1;
  options.tokens = (choice & 1) != 0 ? TokenKind::kBlanks : TokenKind::kWords;
  options.lowercase = (choice & 2) == 0;
  options.word_ngrams = 1 + (choice >> 2 & 3);
  options.char_ngrams_min = 2;
  options.char_ngrams_max = (choice >> 4 & 1) != 0 ? 4 : 0;
  options.weighting = (choice & 32) != 0 ? Weighting::kCounts : Weighting::kTfIdf;
  options.hash_buckets = (choice & 64) != 0 ? 8 : 0;
  options.max_features = (choice & 128) != 0 ? 4 : 0;
  return options;
}

Dataset rows_of(const TextSource& source, const TextModel& model, std::size_t chunk_bytes) {
  ReadOptions options;
  options.format = DataFormat::kText;
  options.threads = 1;
  MemorySink sink;
  const CsrSizes sizes = parse_labelled_text(source, model, options, sink, chunk_bytes);
  return sink.take(sizes, options);
}

}  // namespace
}  // namespace slide::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace slide;
  using namespace slide::fuzz;
  std::string_view input = text_of(data, size);
  const TextOptions options = text_options(take_choice(input));
  const std::string text(input);
  const TextSource source{text, "input"};
  const Learnt model =
      learn_same(text.size(), [&](std::size_t chunk) { return learn_text(source, options, 1, chunk); });
  if (model == nullptr) return 0;
  const Learnt again = TextModel::from_bytes(model->to_bytes(), options, "stored");
  check(again->digest() == model->digest(), "a stored text model is the same");
  const Dataset rows = rows_of(source, *model, text.size() + 1);
  check_rows(rows);
  check_same(rows, rows_of(source, *again, 1 + text.size() / 3));
  const Dataset plain = parse_plain_text(text, *model, true, 1);
  check_rows(plain);
  const auto lines = std::count(text.begin(), text.end(), '\n') + (text.ends_with('\n') ? 0 : 1);
  check(plain.size() == static_cast<std::size_t>(lines), "every line is a sample");
  train_and_predict(rows);
  return 0;
}
