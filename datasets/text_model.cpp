#include "datasets/text_model.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <type_traits>
#include <utility>

#include "engine/base/error.h"
#include "engine/base/rng.h"

namespace slide {

namespace {

static_assert(std::endian::native == std::endian::little, "the bytes of a text model are little-endian");

template <class T>
void put(std::string& out, const T* values, std::size_t count) {
  static_assert(std::is_arithmetic_v<T>);
  out.append(reinterpret_cast<const char*>(values), count * sizeof(T));
}

void put_number(std::string& out, std::uint64_t value) {
  put(out, &value, 1);
}

void put_names(std::string& out, const NameList& names) {
  for (std::size_t i = 0; i < names.size(); ++i) {
    const auto bytes = static_cast<std::uint32_t>(names[i].size());
    put(out, &bytes, 1);
    out.append(names[i]);
  }
}

class Parser {
 public:
  Parser(std::string_view bytes, const std::string& origin) : rest_(bytes), origin_(origin) {}

  [[noreturn]] void fail() const {
    fail_input("{}: the vocabulary is damaged; copy the model again or train again", origin_);
  }
  std::string_view take(std::size_t bytes) {
    if (bytes > rest_.size()) fail();
    const std::string_view taken = rest_.substr(0, bytes);
    rest_.remove_prefix(bytes);
    return taken;
  }
  std::uint64_t number() {
    std::uint64_t value = 0;
    std::memcpy(&value, take(sizeof value).data(), sizeof value);
    return value;
  }
  // A number of things that take at least `bytes` each in what is left.
  std::size_t count(std::size_t bytes) {
    const std::uint64_t value = number();
    if (value > rest_.size() / bytes || value >= kIdLimit) fail();
    return value;
  }
  template <class T>
  std::vector<T> array(std::size_t count) {
    std::vector<T> values(count);
    const std::string_view bytes = take(count * sizeof(T));
    if (!bytes.empty()) std::memcpy(values.data(), bytes.data(), bytes.size());
    return values;
  }
  NameList names(std::size_t count) {
    NameList names;
    for (std::size_t i = 0; i < count; ++i) {
      std::uint32_t bytes = 0;
      std::memcpy(&bytes, take(sizeof bytes).data(), sizeof bytes);
      names.add(take(bytes));
    }
    return names;
  }
  bool at_end() const { return rest_.empty(); }

 private:
  std::string_view rest_;
  const std::string& origin_;
};

}  // namespace

void NameList::add(std::string_view name) {
  text_.append(name);
  ends_.push_back(text_.size());
}

TextModel::TextModel(const TextOptions& options, TextModelParts parts)
    : options_(options), parts_(std::move(parts)) {
  slots_.assign(std::bit_ceil(2 * parts_.hashes.size() + 1), kNone);
  for (std::uint32_t id = 0; id < parts_.hashes.size(); ++id) {
    std::size_t at = parts_.hashes[id] & (slots_.size() - 1);
    while (slots_[at] != kNone) at = (at + 1) & (slots_.size() - 1);
    slots_[at] = id;
  }
  label_ids_.reserve(parts_.label_names.size());
  for (std::uint32_t id = 0; id < parts_.label_names.size(); ++id) {
    label_ids_.emplace(parts_.label_names[id], id);
  }
}

std::uint32_t TextModel::feature_id(std::uint64_t hash) const {
  for (std::size_t at = hash & (slots_.size() - 1); slots_[at] != kNone;
       at = (at + 1) & (slots_.size() - 1)) {
    if (parts_.hashes[slots_[at]] == hash) return slots_[at];
  }
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

void TextModel::features_of(std::string_view text, bool normalize, Tokenizer& tokenizer, Row& row) const {
  tokenizer.run(text);
  row.ids.clear();
  for (const std::uint64_t hash : tokenizer.features()) {
    const std::uint32_t id = feature_id(hash);
    if (id != kNone) row.ids.push_back(id);
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

std::uint64_t TextModel::digest() const {
  const TextOptions& o = options_;
  std::uint64_t sum = 1;
  const auto add = [&](std::uint64_t value) { sum = mix64(sum * 3 + value); };
  for (const std::uint64_t option :
       {static_cast<std::uint64_t>(o.tokens), std::uint64_t{o.lowercase}, std::uint64_t{o.word_ngrams},
        std::uint64_t{o.char_ngrams_min}, std::uint64_t{o.char_ngrams_max},
        static_cast<std::uint64_t>(o.weighting), std::uint64_t{o.hash_buckets}}) {
    add(option);
  }
  std::string bytes = to_bytes();
  bytes.resize((bytes.size() + 7) / 8 * 8);
  for (std::size_t at = 0; at < bytes.size(); at += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes.data() + at, sizeof word);
    add(word);
  }
  return sum;
}

std::string TextModel::to_bytes() const {
  std::string out;
  put_number(out, static_cast<std::uint64_t>(parts_.form));
  put_number(out, parts_.samples);
  put_number(out, parts_.hashes.size());
  put_number(out, parts_.weights.size());
  put_number(out, parts_.label_names.size());
  put(out, parts_.hashes.data(), parts_.hashes.size());
  put(out, parts_.weights.data(), parts_.weights.size());
  put_names(out, parts_.feature_names);
  put_names(out, parts_.label_names);
  return out;
}

std::shared_ptr<const TextModel> TextModel::from_bytes(std::string_view bytes, const TextOptions& options,
                                                       const std::string& origin) {
  Parser in(bytes, origin);
  TextModelParts parts;
  const std::uint64_t form = in.number();
  if (form > static_cast<std::uint64_t>(TextForm::kTabs)) in.fail();
  parts.form = static_cast<TextForm>(form);
  parts.samples = in.number();
  const std::size_t vocabulary = in.count(sizeof(std::uint64_t));
  const std::size_t features = in.count(sizeof(float));
  const std::size_t labels = in.count(sizeof(std::uint32_t));
  if (features != vocabulary + options.hash_buckets) in.fail();
  parts.hashes = in.array<std::uint64_t>(vocabulary);
  parts.weights = in.array<float>(features);
  parts.feature_names = in.names(vocabulary);
  parts.label_names = in.names(labels);
  if (!in.at_end()) in.fail();
  return std::make_shared<const TextModel>(options, std::move(parts));
}

}  // namespace slide
