#include "engine/run/checkpoint.h"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <utility>

#include "engine/base/atomic_file.h"
#include "engine/base/error.h"
#include "engine/config/fields.h"

namespace slide {

namespace {

constexpr std::string_view kMagic = "SLIDERUN";
constexpr std::string_view kEndMarker = "SLIDEEND";
constexpr std::uint32_t kVersion = 2;
constexpr std::size_t kFooterBytes = sizeof(std::uint32_t) + kEndMarker.size();
constexpr std::size_t kBufferBytes = std::size_t{1} << 20;

std::uint32_t checksum(std::uint32_t crc, std::string_view bytes) {
  return static_cast<std::uint32_t>(
      crc32_z(crc, reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size()));
}

class FileWriter final : public StateWriter {
 public:
  explicit FileWriter(const std::string& path) : file_(path) { buffer_.reserve(kBufferBytes); }

  void write(std::string_view bytes) override {
    if (buffer_.size() + bytes.size() > kBufferBytes) flush();
    if (bytes.size() > kBufferBytes) {
      pass_on(bytes);
    } else {
      buffer_.append(bytes);
    }
  }
  void finish() {
    flush();
    put(crc_);
    write(kEndMarker);
    flush();
    file_.finish();
  }

 private:
  void flush() {
    pass_on(buffer_);
    buffer_.clear();
  }
  void pass_on(std::string_view bytes) {
    crc_ = checksum(crc_, bytes);
    file_.write(bytes);
  }

  AtomicFile file_;
  std::string buffer_;
  std::uint32_t crc_ = 0;
};

class ByteReader final : public StateReader {
 public:
  ByteReader(std::string_view bytes, const std::string& path) : rest_(bytes), path_(path) {}

  std::string_view take(std::uint64_t bytes) override {
    if (bytes > rest_.size()) refuse("its parts do not fit its length");
    const std::string_view taken = rest_.substr(0, bytes);
    rest_.remove_prefix(bytes);
    return taken;
  }
  [[noreturn]] void refuse(const char* what) const override {
    fail_input("{}: the checkpoint cannot be used ({}); remove it and train again", path_, what);
  }
  std::size_t left() const { return rest_.size(); }

 private:
  std::string_view rest_;
  const std::string& path_;
};

// The bytes between header and footer.
std::string_view contents(std::string_view bytes, const std::string& path) {
  ByteReader in(bytes, path);
  if (!bytes.starts_with(kMagic)) fail_input("{}: this is no checkpoint of a run", path);
  in.take(kMagic.size());
  const auto version = in.get<std::uint32_t>();
  if (version != kVersion) {
    fail_input("{}: the checkpoint has format version {}, this program reads version {}; train again", path,
               version, kVersion);
  }
  if (in.left() < kFooterBytes || !bytes.ends_with(kEndMarker)) in.refuse("it is cut off");
  const std::string_view summed = bytes.substr(0, bytes.size() - kFooterBytes);
  ByteReader footer(bytes.substr(summed.size()), path);
  if (footer.get<std::uint32_t>() != checksum(0, summed)) in.refuse("wrong checksum");
  return in.take(in.left() - kFooterBytes);
}

}  // namespace

DataPrint print_of(const Dataset& data) {
  const auto bytes_of = [](const auto& values) {
    return std::string_view(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(values[0]));
  };
  std::uint32_t crc = 0;
  for (std::size_t i = 0; i < data.size(); ++i) {
    const SparseRow row = data.features(i);
    const auto labels = data.labels(i);
    const std::array<std::uint64_t, 2> sizes = {row.ids.size(), labels.size()};
    crc = checksum(crc, bytes_of(sizes));
    if (!row.ids.empty()) crc = checksum(checksum(crc, bytes_of(row.ids)), bytes_of(row.values));
    if (!labels.empty()) crc = checksum(crc, bytes_of(labels));
  }
  return {data.size(), data.feature_count(), data.label_count(), crc};
}

void save_run(const std::string& path, const RunRecord& record, const Trainer& trainer) {
  FileWriter out(path);
  out.write(kMagic);
  out.put(kVersion);
  const std::string config = to_toml(record.config);
  out.put_array(config.data(), config.size());
  out.put(record.step_samples);
  out.put(record.train);
  out.put<std::uint8_t>(record.test ? 1 : 0);
  out.put(record.test.value_or(DataPrint{}));
  out.put(record.log_bytes);
  trainer.save(out);
  out.finish();
}

SavedRun::SavedRun(std::string path) : path_(std::move(path)), file_(path_) {
  const std::string_view bytes = contents(file_.text(), path_);
  ByteReader in(bytes, path_);
  const std::string text(in.take(in.get<std::uint64_t>()));
  record_.config = parse_config(text, path_ + " (configuration)");
  record_.step_samples = in.get<std::uint64_t>();
  if (record_.step_samples == 0) in.refuse("steps without samples");
  record_.train = in.get<DataPrint>();
  const bool tested = in.get<std::uint8_t>() != 0;
  const auto test = in.get<DataPrint>();
  if (tested) record_.test = test;
  record_.log_bytes = in.get<std::uint64_t>();
  state_ = static_cast<std::size_t>(bytes.data() - file_.text().data()) + bytes.size() - in.left();
}

void SavedRun::restore(Trainer& trainer) const {
  const std::string_view bytes = file_.text();
  ByteReader in(bytes.substr(state_, bytes.size() - state_ - kFooterBytes), path_);
  trainer.load(in);
  if (in.left() != 0) in.refuse("more than its configuration needs");
}

void check_same_config(const Config& saved, const Config& given, const std::string& origin) {
  static constexpr std::string_view kFree[] = {"data.train", "data.test", "data.cache", "train.threads",
                                               "train.checkpoint_every"};
  Config a = saved, b = given;  // fields bind to mutable objects
  if (a.layers.size() != b.layers.size()) {
    fail_input(
        "{}: it has {} layers, the checkpoint of this run {}; put them back, or train anew without --resume",
        origin, b.layers.size(), a.layers.size());
  }
  const auto was = config::all_sections(a), is = config::all_sections(b);
  for (std::size_t s = 0; s < was.size(); ++s) {
    for (std::size_t f = 0; f < was[s].fields.size(); ++f) {
      const std::string key = fmt::format("{}.{}", was[s].name, was[s].fields[f].key);
      if (std::find(std::begin(kFree), std::end(kFree), key) != std::end(kFree)) continue;
      const std::string before = value_text(was[s].fields[f]), now = value_text(is[s].fields[f]);
      if (before == now) continue;
      fail_input("{}: '{}' is {}, but the run began with {}; put it back, or train anew without --resume",
                 origin, key, now, before);
    }
  }
}

}  // namespace slide
