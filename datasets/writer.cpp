#include "datasets/writer.h"

#include <fcntl.h>
#include <fmt/compile.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <iterator>
#include <utility>

#include "engine/base/error.h"

namespace slide {

namespace {
constexpr std::size_t kBufferBytes = std::size_t{1} << 20;
}

void append_xmc_row(std::string& text, std::span<const std::uint32_t> labels, const SparseRow& features) {
  auto out = std::back_inserter(text);
  for (std::size_t i = 0; i < labels.size(); ++i) {
    if (i > 0) text += ',';
    fmt::format_to(out, FMT_COMPILE("{}"), labels[i]);
  }
  for (std::size_t i = 0; i < features.ids.size(); ++i) {
    fmt::format_to(out, FMT_COMPILE(" {}:{}"), features.ids[i], features.values[i]);
  }
  text += '\n';
}

XmcWriter::XmcWriter(std::string path, std::uint64_t samples, std::uint32_t feature_count,
                     std::uint32_t label_count)
    : path_(std::move(path)), temporary_(fmt::format("{}.{}.tmp", path_, getpid())) {
  descriptor_ = open(temporary_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (descriptor_ < 0) fail("cannot be created", errno);
  try {
    write(fmt::format("{} {} {}\n", samples, feature_count, label_count));
  } catch (...) {
    close(descriptor_);
    unlink(temporary_.c_str());
    throw;
  }
}

XmcWriter::~XmcWriter() {
  if (descriptor_ >= 0) close(descriptor_);
  if (!temporary_.empty()) unlink(temporary_.c_str());
}

void XmcWriter::fail(const char* what, int reason) const {
  fail_run("{}: {} ({}); check the folder, its permissions and the space on its disk", path_, what,
           std::strerror(reason));
}

void XmcWriter::write(std::string_view lines) {
  while (!lines.empty()) {
    const ssize_t written = ::write(descriptor_, lines.data(), lines.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail("cannot be written", errno);
    lines.remove_prefix(static_cast<std::size_t>(written));
  }
}

void XmcWriter::finish() {
  if (close(std::exchange(descriptor_, -1)) != 0) fail("cannot be written", errno);
  if (std::rename(temporary_.c_str(), path_.c_str()) != 0) fail("cannot be renamed into place", errno);
  temporary_.clear();
}

void write_xmc(const Dataset& data, const std::string& path) {
  XmcWriter writer(path, data.size(), data.feature_count(), data.label_count());
  std::string lines;
  for (std::size_t i = 0; i < data.size(); ++i) {
    append_xmc_row(lines, data.labels(i), data.features(i));
    if (lines.size() < kBufferBytes) continue;
    writer.write(lines);
    lines.clear();
  }
  writer.write(lines);
  writer.finish();
}

}  // namespace slide
