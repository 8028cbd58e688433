#include "datasets/formats/idx.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <system_error>

#include "engine/base/error.h"
#include "engine/base/parallel.h"

namespace slide {

namespace {

constexpr std::uint32_t kImagesMagic = 0x00000803, kLabelsMagic = 0x00000801;
constexpr std::size_t kImagesHeader = 16, kLabelsHeader = 8;  // bytes
constexpr std::size_t kBlock = 256;                           // images per task

std::uint32_t big_endian(std::string_view bytes, std::size_t at) {
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < 4; ++i) value = value << 8 | static_cast<unsigned char>(bytes[at + i]);
  return value;
}

void check_header(std::string_view bytes, const std::string& path, std::size_t header, std::uint32_t magic) {
  if (bytes.size() < header) {
    fail_input("{}: {} bytes are too few for an IDX header of {}; fetch the file again", path, bytes.size(),
               header);
  }
  if (big_endian(bytes, 0) != magic) {
    fail_input("{}: the magic number is {:#010x}, not the {:#010x} of IDX {}; check the path", path,
               big_endian(bytes, 0), magic, magic == kImagesMagic ? "images" : "labels");
  }
}

void check_size(std::string_view bytes, const std::string& path, std::uint64_t expected) {
  if (bytes.size() == expected) return;
  fail_input("{}: {} bytes, but its header needs {}; fetch the file again", path, bytes.size(), expected);
}

struct Images {
  std::string_view pixels;
  std::uint32_t count = 0;
  std::uint32_t size = 0;  // pixels per image

  std::string_view operator[](std::size_t image) const { return pixels.substr(image * size, size); }
};

Images open_images(std::string_view bytes, const std::string& path) {
  check_header(bytes, path, kImagesHeader, kImagesMagic);
  const std::uint64_t count = big_endian(bytes, 4), rows = big_endian(bytes, 8),
                      columns = big_endian(bytes, 12);
  if (rows > 0xffff || columns > 0xffff) {
    fail_input("{}: images of {} x {} pixels are too large; fetch the file again", path, rows, columns);
  }
  const std::uint64_t size = rows * columns;
  check_size(bytes, path, kImagesHeader + count * size);  // below 2^64, for count < 2^32 and size < 2^32
  return {bytes.substr(kImagesHeader), static_cast<std::uint32_t>(count), static_cast<std::uint32_t>(size)};
}

// Checks the labels' header and range; returns them, one byte each.
std::string_view open_labels(std::string_view bytes, const std::string& path, std::uint32_t limit) {
  check_header(bytes, path, kLabelsHeader, kLabelsMagic);
  check_size(bytes, path, kLabelsHeader + std::uint64_t{big_endian(bytes, 4)});
  const std::string_view labels = bytes.substr(kLabelsHeader);
  for (std::size_t i = 0; limit != 0 && i < labels.size(); ++i) {
    const auto label = static_cast<unsigned char>(labels[i]);
    if (label >= limit) {
      fail_input("{}: label {} of image {} is out of range; labels must be below {}", path, label, i, limit);
    }
  }
  return labels;
}

// Value of each pixel level, scaled to unit length of the image if requested.
std::array<float, 256> pixel_values(std::string_view image, bool normalize) {
  double scale = 1.0 / 255;
  if (normalize) {
    std::uint64_t square = 0;
    for (const char pixel : image) {
      const std::uint64_t value = static_cast<unsigned char>(pixel);
      square += value * value;
    }
    if (square > 0) scale = 1 / std::sqrt(static_cast<double>(square));
  }
  std::array<float, 256> values{};
  for (std::size_t level = 0; level < values.size(); ++level) {
    values[level] = static_cast<float>(static_cast<double>(level) * scale);
  }
  return values;
}

// Stores the nonzero pixels from position `at`; returns their number.
std::uint64_t store_image(const CsrRoom& room, std::uint64_t at, std::string_view image, bool normalize) {
  const std::array<float, 256> values = pixel_values(image, normalize);
  const std::uint64_t first = at;
  for (std::size_t i = 0; i < image.size(); ++i) {
    if (image[i] == 0) continue;
    room.feature_ids[at] = static_cast<std::uint32_t>(i);
    room.feature_values[at++] = values[static_cast<unsigned char>(image[i])];
  }
  return at - first;
}

std::uint64_t lit_pixels(std::string_view pixels) {
  return pixels.size() - static_cast<std::uint64_t>(std::count(pixels.begin(), pixels.end(), '\0'));
}

// The images of a task.
struct Block {
  std::size_t first = 0, count = 0;
};

Block block_of(const Images& images, std::size_t index) {
  const std::size_t first = index * kBlock;
  return {first, std::min(kBlock, images.count - first)};
}

void fill_room(const CsrRoom& room, const Block& block, const Images& images, std::string_view labels,
               std::uint64_t features_before, bool normalize) {
  std::uint64_t features = 0;
  for (std::size_t i = 0; i < block.count; ++i) {
    features += store_image(room, features, images[block.first + i], normalize);
    room.feature_ends[i] = features_before + features;
    room.label_ids[i] = static_cast<unsigned char>(labels[block.first + i]);
    room.label_ends[i] = block.first + i + 1;
  }
}

// Turns pixels into sparse rows in two passes over blocks of images: the first counts nonzero pixels, since
// the sink needs exact totals, the second fills the rows.
void build(const Images& images, std::string_view labels, bool normalize, int threads, CsrSink& sink) {
  const std::size_t blocks = (images.count + kBlock - 1) / kBlock;
  std::vector<std::uint64_t> before(blocks + 1);  // features before each block
  parallel_for(blocks, threads, [&](std::size_t index, int) {
    const Block block = block_of(images, index);
    before[index + 1] =
        lit_pixels(images.pixels.substr(block.first * images.size, block.count * images.size));
  });
  for (std::size_t i = 0; i < blocks; ++i) before[i + 1] += before[i];
  sink.start({images.count, before.back(), images.count}, threads);
  parallel_for(blocks, threads, [&](std::size_t index, int thread) {
    const Block block = block_of(images, index);
    const CsrCounts count = {block.count, before[index + 1] - before[index], block.count};
    const CsrRoom room = sink.open({block.first, before[index], block.first}, count, thread);
    fill_room(room, block, images, labels, before[index], normalize);
    sink.close(thread);
  });
}

}  // namespace

bool is_idx_images(std::string_view bytes) {
  return bytes.size() >= 4 && big_endian(bytes, 0) == kImagesMagic;
}

// Path of the labels, named as in MNIST: train-images-idx3-ubyte has train-labels-idx1-ubyte. Where only the
// other of a plain and a .gz file exists, takes that one.
std::string idx_labels_path(const std::string& path) {
  constexpr std::string_view kImages = "images-idx3", kLabels = "labels-idx1";
  const std::size_t at = path.rfind(kImages);
  if (at == std::string::npos) {
    fail_input("{}: IDX images must have '{}' in their name; the labels lie beside them with '{}'", path,
               kImages, kLabels);
  }
  const std::string labels = std::string(path).replace(at, kImages.size(), kLabels);
  const std::string other = labels.ends_with(".gz") ? labels.substr(0, labels.size() - 3) : labels + ".gz";
  std::error_code ignored;
  const bool use_other = !std::filesystem::exists(labels, ignored) && std::filesystem::exists(other, ignored);
  return use_other ? other : labels;
}

CsrSizes parse_idx(const NamedBytes& images, const NamedBytes& labels, const ReadOptions& options,
                   CsrSink& sink) {
  const Images opened = open_images(images.bytes, images.path);
  const std::string none(labels.path.empty() ? opened.count : 0, '\0');
  const std::string_view classes =
      labels.path.empty() ? none : open_labels(labels.bytes, labels.path, options.label_limit);
  if (classes.size() != opened.count) {
    fail_input("{}: {} labels, but {} has {} images; fetch both files again", labels.path, classes.size(),
               images.path, opened.count);
  }
  if (options.feature_limit != 0 && opened.size > options.feature_limit) {
    fail_input("{}: images of {} pixels, but features must be below {}; use images of one size", images.path,
               opened.size, options.feature_limit);
  }
  std::uint64_t label_bound = 0;
  for (const char label : classes) {
    label_bound = std::max(label_bound, static_cast<unsigned char>(label) + std::uint64_t{1});
  }
  build(opened, classes, options.normalize, resolve_threads(options.threads), sink);
  return {opened.size, label_bound, opened.size, label_bound};
}

}  // namespace slide
