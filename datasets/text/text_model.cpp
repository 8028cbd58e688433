#include "datasets/text/text_model.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <utility>

#include "datasets/text/log_fields.h"
#include "engine/base/aligned.h"
#include "engine/base/byte_io.h"
#include "engine/base/error.h"
#include "engine/base/finite.h"
#include "engine/base/foreign_text.h"
#include "engine/base/rng.h"

namespace slide {

namespace {

constexpr std::uint64_t kMaxSamples = std::uint64_t{1} << 48;
constexpr std::size_t kMaxSteps =
    4096;  // from the place of a hash to a free one: tens at most in a table half full

void put_names(ByteWriter& out, const NameList& names) {
  for (std::size_t i = 0; i < names.size(); ++i) {
    out.put(static_cast<std::uint32_t>(names[i].size()));
    out.write(names[i]);
  }
}

NameList get_names(ByteReader& in, std::size_t count) {
  NameList names;
  for (std::size_t i = 0; i < count; ++i) names.add(in.take(in.get<std::uint32_t>()));
  return names;
}

// Reads a number of items with ids, of at least `bytes` bytes each.
std::size_t get_count(ByteReader& in, std::size_t bytes) {
  constexpr const char* kWhat = "an impossible size";
  const std::uint64_t count = in.get_count(bytes, kWhat);
  if (count >= kIdLimit) in.refuse(kWhat);
  return count;
}

}  // namespace

void NameList::add(std::string_view name) {
  text_.append(name);
  ends_.push_back(text_.size());
}

bool NameList::has_empty() const {
  std::size_t begin = 0;
  for (const std::size_t end : ends_) {
    if (end == begin) return true;
    begin = end;
  }
  return false;
}

TextModel::TextModel(const TextOptions& options, TextModelParts parts)
    : options_(options), parts_(std::move(parts)) {
  all_differ_ = fill_slots();
  label_ids_.reserve(parts_.label_names.size());
  for (std::uint32_t id = 0; id < parts_.label_names.size(); ++id) {
    if (!label_ids_.emplace(parts_.label_names[id], id).second) all_differ_ = false;
  }
}

// Fills a hash table of the feature ids, at most half full, by linear probing from the low bits of their
// hashes. Returns whether the hashes differ. Those of a damaged model may be equal or, as no hashes of text
// do, share their low bits; then it stops early.
bool TextModel::fill_slots() {
  slots_.assign(std::bit_ceil(2 * parts_.hashes.size() + 1), kNone);
  const std::size_t mask = slots_.size() - 1;
  for (std::uint32_t id = 0; id < parts_.hashes.size(); ++id) {
    std::size_t at = parts_.hashes[id] & mask;
    for (std::size_t steps = 0; slots_[at] != kNone; ++steps) {
      if (parts_.hashes[slots_[at]] == parts_.hashes[id] || steps == kMaxSteps) return false;
      at = (at + 1) & mask;
    }
    slots_[at] = id;
  }
  return true;
}

std::optional<std::uint32_t> TextModel::known_feature(std::uint64_t hash) const {
  for (std::size_t at = hash & (slots_.size() - 1); slots_[at] != kNone;
       at = (at + 1) & (slots_.size() - 1)) {
    if (parts_.hashes[slots_[at]] == hash) return slots_[at];
  }
  return std::nullopt;
}

std::uint32_t TextModel::feature_id(std::uint64_t hash) const {
  if (const auto known = known_feature(hash)) return *known;
  if (options_.hash_buckets == 0) return kNone;
  return static_cast<std::uint32_t>(parts_.hashes.size() + hash % options_.hash_buckets);
}

std::string TextModel::feature_name(std::uint32_t id) const {
  if (id < parts_.feature_names.size()) return std::string(parts_.feature_names[id]);
  return fmt::format("#{}", id - parts_.feature_names.size());
}

std::optional<std::uint32_t> TextModel::label_id(std::string_view name) const {
  const auto found = label_ids_.find(name);
  if (found == label_ids_.end()) return std::nullopt;
  return found->second;
}

// Term weighting: value of feature f = tf(f) * weights[f], tf the count c or 1 + log(c); ids ascending.
void TextModel::features_of(std::string_view text, bool normalize, Tokenizer& tokenizer, Row& row) const {
  if (has_items(form())) return items_of(text, normalize, row);
  tokenizer.run(text);
  row.ids.clear();
  row.unknown = 0;
  const auto hashes = tokenizer.features();
  const bool words = options_.word_ngrams > 0;  // n-grams of known words are often new
  for (std::size_t i = 0; i < hashes.size(); ++i) {
    const std::uint32_t id = feature_id(hashes[i]);
    if (id != kNone) row.ids.push_back(id);
    row.unknown += id == kNone && (!words || tokenizer.is_word(i)) ? 1 : 0;
  }
  std::sort(row.ids.begin(), row.ids.end());
  row.values.resize(row.ids.size());
  std::size_t used = 0;
  for (std::size_t i = 0; i < row.ids.size();) {
    const std::uint32_t id = row.ids[i];
    std::size_t count = 0;
    for (; i < row.ids.size() && row.ids[i] == id; ++i) ++count;
    const double times = static_cast<double>(count);
    const double frequency = options_.weighting == Weighting::kCounts ? times : 1 + std::log(times);
    row.ids[used] = id;
    row.values[used++] = static_cast<float>(frequency * double{parts_.weights[id]});
  }
  row.feature_count = used;
  if (normalize) scale_to_unit_length(row.values.data(), used);
}

// Items by name, each once with value 1; ids ascending.
void TextModel::items_of(std::string_view text, bool normalize, Row& row) const {
  row.ids.clear();
  row.unknown = 0;
  std::vector<std::string_view> names;
  UnquotedNames unquoted;
  cut_any_fields(text, Separator::kBlanks, names, unquoted);  // no name has a TAB: in quotes it is unknown
  for (const std::string_view name : names) {
    const auto id = label_id(name);
    if (id) row.ids.push_back(*id);
    row.unknown += id ? 0 : 1;
  }
  std::sort(row.ids.begin(), row.ids.end());
  row.ids.erase(std::unique(row.ids.begin(), row.ids.end()), row.ids.end());
  row.values.assign(row.ids.size(), 1.0f);
  row.feature_count = row.ids.size();
  if (normalize) scale_to_unit_length(row.values.data(), row.values.size());
}

// A hash of options and content: both decide which features a text has.
std::uint64_t TextModel::digest() const {
  std::uint64_t sum = 1;
  const auto add = [&](std::uint64_t value) { sum = mix64(sum * 3 + value); };
  for (const std::uint64_t option :
       {static_cast<std::uint64_t>(options_.tokens), std::uint64_t{options_.lowercase},
        std::uint64_t{options_.word_ngrams}, std::uint64_t{options_.char_ngrams_min},
        std::uint64_t{options_.char_ngrams_max}, static_cast<std::uint64_t>(options_.weighting),
        std::uint64_t{options_.hash_buckets}}) {
    add(option);
  }
  std::string bytes = to_bytes();
  bytes.resize(round_up(bytes.size(), sizeof(std::uint64_t)));  // zeros
  for (std::size_t at = 0; at < bytes.size(); at += sizeof(std::uint64_t)) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes.data() + at, sizeof word);
    add(word);
  }
  return sum;
}

std::string TextModel::to_bytes() const {
  ByteString out;
  out.put(static_cast<std::uint64_t>(parts_.form));
  out.put<std::uint64_t>(parts_.samples);
  out.put<std::uint64_t>(parts_.hashes.size());
  out.put<std::uint64_t>(parts_.weights.size());
  out.put<std::uint64_t>(parts_.label_names.size());
  out.put_values(parts_.hashes);
  out.put_values(parts_.weights);
  put_names(out, parts_.feature_names);
  put_names(out, parts_.label_names);
  return std::move(out).bytes();
}

// Every number and name is checked: a malicious file can have a right checksum.
std::shared_ptr<const TextModel> TextModel::from_bytes(std::string_view bytes, const TextOptions& options,
                                                       const std::string& origin) {
  ByteReader in(bytes, origin + ": the vocabulary is damaged", "copy the model again or train again");
  TextModelParts parts;
  const auto form = in.get<std::uint64_t>();
  if (form > static_cast<std::uint64_t>(TextForm::kItemPairs)) in.refuse("text of an unknown form");
  parts.form = static_cast<TextForm>(form);
  parts.samples = in.get<std::uint64_t>();
  const std::size_t vocabulary = get_count(in, sizeof(std::uint64_t));
  const std::size_t features = get_count(in, sizeof(float));
  const std::size_t labels = get_count(in, sizeof(std::uint32_t));
  if (features != vocabulary + options.hash_buckets) in.refuse("features against its configuration");
  in.get_vector(parts.hashes, vocabulary);
  in.get_vector(parts.weights, features);
  if (!all_finite(parts.weights)) in.refuse("impossible weights of features");
  parts.feature_names = get_names(in, vocabulary);
  parts.label_names = get_names(in, labels);
  if (has_items(parts.form) && features != labels) in.refuse("items that differ between features and labels");
  if (in.left() != 0) in.refuse("more than its sizes say");
  if (parts.samples == 0 || parts.samples > kMaxSamples) in.refuse("impossible number of samples");
  for (const NameList* names : {&parts.feature_names, &parts.label_names}) {
    if (names->has('\n') || (!has_items(parts.form) && names->has('\t')))
      in.refuse("a name with a line break or TAB");
  }
  if (has_control(parts.label_names.all(), has_items(parts.form)))
    in.refuse("a name of a label with a control character");
  if (parts.label_names.has_empty()) in.refuse("a label without a name");
  auto text = std::make_shared<const TextModel>(options, std::move(parts));
  if (!text->all_differ_) in.refuse("equal names of labels, or equal hashes");
  return text;
}

}  // namespace slide
