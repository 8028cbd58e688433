#include "datasets/idx.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <utility>

#include "datasets/csr_storage.h"
#include "engine/base/error.h"
#include "engine/base/parallel.h"

namespace slide {

namespace {

constexpr std::uint32_t kImagesMagic = 0x00000803, kLabelsMagic = 0x00000801;
constexpr std::size_t kImagesHeader = 16, kLabelsHeader = 8;  // bytes
constexpr std::size_t kBlock = 256;                           // images a task

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
  std::uint32_t size = 0;  // pixels an image

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
  if (size > 0 && count > bytes.size() / size) check_size(bytes, path, kImagesHeader + count * size);
  check_size(bytes, path, kImagesHeader + count * size);
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

// The value of each pixel level, scaled to unit length of the image if asked.
std::array<float, 256> pixel_values(std::string_view image, bool normalize) {
  double scale = 1.0 / 255;
  if (normalize) {
    std::uint64_t square = 0;
    for (const char pixel : image)
      square += static_cast<unsigned char>(pixel) * static_cast<unsigned char>(pixel);
    if (square > 0) scale = 1 / std::sqrt(static_cast<double>(square));
  }
  std::array<float, 256> values{};
  for (std::size_t level = 0; level < values.size(); ++level) {
    values[level] = static_cast<float>(static_cast<double>(level) * scale);
  }
  return values;
}

void store_image(CsrStorage& storage, std::uint64_t at, std::string_view image, bool normalize) {
  const std::array<float, 256> values = pixel_values(image, normalize);
  for (std::size_t i = 0; i < image.size(); ++i) {
    if (image[i] == 0) continue;
    storage.feature_ids[at] = static_cast<std::uint32_t>(i);
    storage.feature_values[at++] = values[static_cast<unsigned char>(image[i])];
  }
}

template <class F>
void for_each_image(std::size_t count, int threads, F&& body) {
  parallel_for((count + kBlock - 1) / kBlock, threads, [&](std::size_t block, int) {
    for (std::size_t i = block * kBlock; i < std::min(count, (block + 1) * kBlock); ++i) body(i);
  });
}

CsrStorage build(const Images& images, std::string_view labels, bool normalize, int threads) {
  std::vector<std::uint64_t> offsets(images.count + std::size_t{1});
  for_each_image(images.count, threads, [&](std::size_t i) {
    const std::string_view image = images[i];
    offsets[i + 1] = image.size() - static_cast<std::uint64_t>(std::count(image.begin(), image.end(), '\0'));
  });
  for (std::size_t i = 0; i < images.count; ++i) offsets[i + 1] += offsets[i];
  CsrStorage storage({images.count, offsets.back(), images.count});
  std::copy(offsets.begin(), offsets.end(), storage.feature_offsets.data());
  for_each_image(images.count, threads, [&](std::size_t i) {
    store_image(storage, offsets[i], images[i], normalize);
    storage.label_ids[i] = static_cast<unsigned char>(labels[i]);
    storage.label_offsets[i + 1] = i + 1;
  });
  return storage;
}

}  // namespace

bool is_idx_images(std::string_view bytes) {
  return bytes.size() >= 4 && big_endian(bytes, 0) == kImagesMagic;
}

std::string idx_labels_path(const std::string& path) {
  constexpr std::string_view kImages = "images-idx3", kLabels = "labels-idx1";
  const std::size_t at = path.rfind(kImages);
  if (at == std::string::npos) {
    fail_input("{}: IDX images must have '{}' in their name; the labels lie beside them with '{}'", path,
               kImages, kLabels);
  }
  return std::string(path).replace(at, kImages.size(), kLabels);
}

Dataset parse_idx(std::string_view images, const std::string& images_path, std::string_view labels,
                  const std::string& labels_path, const ReadOptions& options) {
  const Images opened = open_images(images, images_path);
  const std::string_view classes = open_labels(labels, labels_path, options.label_limit);
  if (classes.size() != opened.count) {
    fail_input("{}: {} labels, but {} has {} images; fetch both files again", labels_path, classes.size(),
               images_path, opened.count);
  }
  if (options.feature_limit != 0 && opened.size > options.feature_limit) {
    fail_input("{}: images of {} pixels, but features must be below {}; use images of one size", images_path,
               opened.size, options.feature_limit);
  }
  std::uint32_t label_count = options.label_limit;
  for (const char label : classes)
    label_count = std::max(label_count, static_cast<unsigned char>(label) + 1U);
  CsrStorage storage = build(opened, classes, options.normalize, resolve_threads(options.threads));
  const std::uint32_t feature_count = options.feature_limit != 0 ? options.feature_limit : opened.size;
  return make_dataset(std::move(storage), feature_count, label_count);
}

}  // namespace slide
