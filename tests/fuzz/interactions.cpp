// Fuzz target: interaction logs, their items and the rows of their users, equal for any chunks of lines. The
// last byte selects the min users of an item, and whether malformed lines are skipped.
#include <memory>

#include "datasets/formats/held_out.h"
#include "datasets/formats/interactions.h"
#include "datasets/rows/csr_sink.h"
#include "datasets/text/text_model.h"
#include "tests/fuzz/fuzz.h"

namespace slide::fuzz {
namespace {

using Learnt = std::shared_ptr<const TextModel>;

struct Rows {
  Dataset rows;
  LogUsers users;
};

void read(const TextSource& source, const TextModel& items, ReadOptions options, std::size_t chunk_bytes,
          Rows& log) {
  options.users = &log.users;
  MemorySink sink;
  const CsrSizes sizes = parse_interactions(source, items, options, sink, chunk_bytes);
  log.rows = sink.take(sizes, options);
}

}  // namespace
}  // namespace slide::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace slide;
  using namespace slide::fuzz;
  std::string_view input = text_of(data, size);
  const unsigned choice = take_choice(input);
  const std::string text(input);
  const TextSource source{text, "input"};
  ReadOptions options;
  options.format = DataFormat::kInteractions;
  options.threads = 1;
  options.skip_bad = (choice & 4) != 0;
  options.normalize = (choice & 8) != 0;
  options.log.hold_out.newest = 1 + (choice >> 4 & 1);
  TextOptions frequent;
  frequent.min_count = 1 + (choice & 3);
  const Learnt items = learn_same(
      text.size(), [&](std::size_t chunk) { return learn_items(source, options, frequent, chunk); });
  if (items == nullptr) return 0;
  const Learnt again = TextModel::from_bytes(items->to_bytes(), frequent, "stored");
  check(again->digest() == items->digest(), "stored items are the same");
  Rows whole, cut;
  read(source, *items, options, text.size() + 1, whole);
  read(source, *again, options, 1 + text.size() / 3, cut);
  check_rows(whole.rows);
  check_same(whole.rows, cut.rows);
  check(whole.users.size() == whole.rows.size(), "every row has a user");
  const Dataset asked = held_out_samples(whole.rows, whole.users, cut.rows, cut.users);
  check(asked.label_entries() == 0, "nothing is asked for that is known");
  const HeldOutApart apart = held_out_apart(whole.rows, whole.users, options.normalize, (choice & 1) != 0);
  check_rows(apart.rest);
  check_rows(apart.test);
  check(apart.rest.label_entries() + apart.test.label_entries() == whole.rows.label_entries(),
        "an item is held out or left");
  train_and_predict(whole.rows);
  return 0;
}
