#include "engine/run/checkpoint.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "engine/base/descriptor.h"
#include "engine/base/error.h"
#include "engine/cluster/shared_summed_file.h"
#include "engine/config/fields.h"

namespace slide {

namespace {

constexpr std::string_view kMagic = "SLIDERUN";
constexpr std::uint32_t kVersion = 3;

}  // namespace

// Sizes of the data, and a CRC-32 of all rows with everything that training reads of them.
DataDigest digest_of(const Dataset& data) {
  std::uint32_t crc = 0;
  for (std::size_t i = 0; i < data.size(); ++i) {
    const SparseRow row = data.features(i);
    const auto labels = data.labels(i);
    const std::array<std::uint64_t, 2> sizes = {row.ids.size(), labels.size()};
    crc = crc_32(crc, bytes_of(sizes));
    crc = crc_32(crc, bytes_of(row.ids));
    crc = crc_32(crc, bytes_of(row.values));
    crc = crc_32(crc, bytes_of(labels));
  }
  if (!data.weights().empty()) crc = crc_32(crc, bytes_of(data.weights()));
  if (data.label_texts() > 0) crc = crc_32(crc, bytes_of(std::array<std::uint64_t, 1>{data.label_texts()}));
  if (!data.label_weights().empty()) crc = crc_32(crc, bytes_of(data.label_weights()));
  if (data.keys() != nullptr)
    crc = crc_32(crc_32(crc, bytes_of(data.keys()->groups)), bytes_of(data.keys()->times));
  std::vector<float> dense(data.dense_count());
  for (std::size_t i = 0; !dense.empty() && i < data.size(); ++i) {
    data.dense().copy_row(i, dense.data());
    crc = crc_32(crc, bytes_of(dense));
  }
  return {data.size(), data.feature_count(), data.label_count(), crc};
}

std::uint32_t label_checksum(const Dataset& data) {
  std::uint32_t crc = 0;
  for (std::size_t i = 0; i < data.samples(); ++i) {
    const auto labels = data.labels(i);
    const std::array<std::uint64_t, 1> size = {labels.size()};
    crc = crc_32(crc, bytes_of(size));
    crc = crc_32(crc, bytes_of(labels));
  }
  return crc;
}

namespace {

void put_contents(ByteWriter& out, const RunRecord& record, const Trainer& trainer) {
  out.write(kMagic);
  out.put(kVersion);
  const std::string config = to_toml(record.config);
  out.put_array(config.data(), config.size());
  out.put(record.step_samples);
  out.put(record.train);
  out.put<std::uint8_t>(record.test ? 1 : 0);
  out.put(record.test.value_or(DataDigest{}));
  out.put(record.log_bytes);
  trainer.save(out);
}

}  // namespace

void save_checkpoint(const std::string& path, const RunRecord& record, const Trainer& trainer) {
  if (trainer.cluster() != nullptr) {
    SharedSummedFile out(*trainer.cluster(), path);
    put_contents(out, record, trainer);
    return out.finish();
  }
  SummedFile out(path);
  put_contents(out, record, trainer);
  out.finish();
}

Checkpoint::Checkpoint(std::string path) : path_(std::move(path)) {
  open()->finish();  // verify the checksum before using any content
  const std::unique_ptr<SummedReader> reader = open();
  ByteReader& in = *reader;
  const std::string text(in.take(in.get<std::uint64_t>()));
  std::vector<std::string> notes;  // already reported for the run's config.toml
  record_.config = parse_stored_config(text, path_ + " (configuration)", notes);
  record_.step_samples = in.get<std::uint64_t>();
  if (record_.step_samples == 0) in.refuse("steps without samples");
  record_.train = in.get<DataDigest>();
  const bool tested = in.get<std::uint8_t>() != 0;
  const auto test = in.get<DataDigest>();
  if (tested) record_.test = test;
  record_.log_bytes = in.get<std::uint64_t>();
  state_ = in.left();
}

std::unique_ptr<SummedReader> Checkpoint::open() const {
  Descriptor file(::open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat status {};
  if (!file.is_open() || fstat(file.get(), &status) != 0)
    fail_input("{}: cannot be opened ({}); check the path and its permissions", path_, std::strerror(errno));
  std::array<char, kMagic.size()> magic{};
  if (read_at(file.get(), magic.data(), magic.size(), 0) != static_cast<ssize_t>(magic.size()) ||
      std::string_view(magic.data(), magic.size()) != kMagic)
    fail_input("{}: this is no checkpoint of a run", path_);
  auto in =
      std::make_unique<SummedReader>(std::move(file), static_cast<std::uint64_t>(status.st_size),
                                     path_ + ": the checkpoint cannot be used", "remove it and train again");
  in->skip(magic.size());
  const auto version = in->get<std::uint32_t>();
  if (version != kVersion) {
    fail_input("{}: the checkpoint has format version {}, this program reads version {}; train again", path_,
               version, kVersion);
  }
  return in;
}

void Checkpoint::restore(Trainer& trainer) const {
  const std::unique_ptr<SummedReader> in = open();
  if (in->left() < state_) in->refuse("it has changed");
  in->skip(in->left() - state_);
  trainer.load(*in);
  if (in->left() != 0) in->refuse("more than its configuration needs");
  in->finish();
}

// Throws for a key that differs, unless it is free to change or names a file whose content is compared.
void check_same_config(const Config& saved, const Config& given, const std::string& origin) {
  static constexpr std::string_view kFree[] = {"data.train", "data.test", "data.cache", "train.threads",
                                               "train.checkpoint_every"};
  Config a = saved, b = given;  // fields bind to mutable objects
  if (a.layers.size() != b.layers.size()) {
    fail_input(
        "{}: it has {} layers, the checkpoint of this run {}; put them back, or train anew with --force",
        origin, b.layers.size(), a.layers.size());
  }
  const auto both_have = [](const std::string& before, const std::string& now) {
    return !before.empty() && !now.empty();
  };
  const std::pair<std::string_view, bool> files[] = {
      {"data.validation", both_have(a.data.validation.file, b.data.validation.file)},
      {"data.sample_weights", both_have(a.data.sample_weights, b.data.sample_weights)},
      {"data.label_weights", both_have(a.data.label_weights.file, b.data.label_weights.file)},
      {"data.label_text", both_have(a.data.label_text, b.data.label_text)}};
  const auto is_checked_by_content = [&](std::string_view key) {
    return std::ranges::find(files, std::pair(key, true)) != std::end(files);
  };
  const auto was = config::all_sections(a), is = config::all_sections(b);
  for (std::size_t s = 0; s < was.size(); ++s) {
    for (std::size_t f = 0; f < was[s].fields.size(); ++f) {
      const std::string key = fmt::format("{}.{}", was[s].name, was[s].fields[f].key);
      if (std::find(std::begin(kFree), std::end(kFree), key) != std::end(kFree)) continue;
      if (is_checked_by_content(key)) continue;
      const std::string before = value_text(was[s].fields[f]), now = value_text(is[s].fields[f]);
      if (before == now) continue;
      fail_input("{}: '{}' is {}, but the run began with {}; put it back, or train anew with --force", origin,
                 key, now, before);
    }
  }
}

}  // namespace slide
