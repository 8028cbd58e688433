#include "datasets/npz_matrix.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "datasets/npy.h"
#include "datasets/row_parser.h"
#include "datasets/zip_archive.h"
#include "engine/base/byte_io.h"
#include "engine/base/error.h"

namespace slide {

namespace {

NpyArray read_array(const ZipReader& archive, const std::string& name) {
  return NpyArray(archive.read(name + ".npy"), name, archive.path());
}

std::string format_of(const NpyArray& array) {
  std::string text;  // stored as bytes, or as four-byte code points
  for (const char c : array.items()) {
    if (c != '\0') text += c;
  }
  return text;
}

void check_matrix(const NpzMatrix& m, const std::string& path) {
  if (m.columns >= kIdLimit || m.rows >= kIdLimit) fail_npz(path, "the matrix is too large");
  if (m.ends.size() != m.rows + 1 || m.ends.front() != 0 || m.ends.back() != m.ids.size() ||
      !std::is_sorted(m.ends.begin(), m.ends.end())) {
    fail_npz(path, "indptr does not fit the matrix");
  }
  if (m.values.size() != m.ids.size()) fail_npz(path, "data and indices have different sizes");
  for (std::size_t row = 0; row < m.rows; ++row) {
    for (std::size_t i = m.ends[row]; i < m.ends[row + 1]; ++i) {
      if (m.ids[i] >= m.columns) {
        fail_npz(path, fmt::format("row {} has column {}, but there are {}", row,
                                   static_cast<std::int64_t>(m.ids[i]), m.columns));
      }
      if (!std::isfinite(m.values[i]))
        fail_npz(path, fmt::format("row {} has a value that is no finite float", row));
    }
  }
}

// Sorts the columns of each row; sums duplicates in stored order.
void make_canonical(NpzMatrix& m, const std::string& path, Repeated repeated) {
  std::size_t used = 0, begin = 0;
  std::vector<std::pair<std::uint64_t, float>> row;
  for (std::size_t r = 0; r < m.rows; ++r) {
    const std::size_t end = m.ends[r + 1];
    row.clear();
    for (std::size_t i = begin; i < end; ++i) row.emplace_back(m.ids[i], m.values[i]);
    begin = end;
    std::stable_sort(row.begin(), row.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    const std::size_t first = used;
    for (const auto& [id, value] : row) {
      if (used > first && m.ids[used - 1] == id) {
        if (repeated == Repeated::kRefuse)
          fail_npz(path, fmt::format("row {} has column {} twice: use .sum_duplicates()", r, id));
        m.values[used - 1] += value;
        if (!std::isfinite(m.values[used - 1])) {
          fail_npz(path,
                   fmt::format("row {}: the values of column {} sum to more than a float holds", r, id));
        }
        continue;
      }
      m.ids[used] = id;
      m.values[used++] = value;
    }
    m.ends[r + 1] = used;
  }
  m.ids.resize(used);
  m.values.resize(used);
}

// A member with a one-dimensional array.
template <class T>
ZipMember list_member(const std::string& name, std::string_view type, const std::vector<T>& values,
                      std::size_t count) {
  return {name + ".npy", npy_bytes(type, fmt::format("({},)", count), bytes_of(values))};
}
template <class T>
ZipMember list_member(const std::string& name, std::string_view type, const std::vector<T>& values) {
  return list_member(name, type, values, values.size());
}

// Characters of UTF-8 text; U+FFFD for each byte that is none.
std::u32string characters_of(std::string_view text) {
  std::u32string characters;
  for (std::size_t at = 0; at < text.size();) {
    const auto lead = static_cast<unsigned char>(text[at]);
    const std::size_t bytes = lead < 0x80 ? 1 : lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : lead >= 0xC2 ? 2 : 0;
    char32_t character = bytes == 1 ? lead : bytes == 0 ? 0 : lead & (0x7FU >> bytes);
    bool good = bytes > 0 && at + bytes <= text.size();
    for (std::size_t i = 1; good && i < bytes; ++i) {
      const auto next = static_cast<unsigned char>(text[at + i]);
      good = (next & 0xC0) == 0x80;
      character = character << 6 | (next & 0x3F);
    }
    characters += good ? character : U'\xFFFD';
    at += good ? bytes : 1;
  }
  return characters;
}

// Text of NumPy: as many characters for each as the longest has.
ZipMember text_member(const std::string& name, const std::vector<std::string>& texts) {
  std::vector<std::u32string> all;
  std::size_t longest = 1;
  for (const std::string& text : texts)
    longest = std::max(longest, all.emplace_back(characters_of(text)).size());
  std::vector<char32_t> items(texts.size() * longest);
  for (std::size_t i = 0; i < all.size(); ++i)
    std::ranges::copy(all[i], items.begin() + static_cast<std::ptrdiff_t>(i * longest));
  return list_member(name, fmt::format("<U{}", longest), items, texts.size());
}

// 32-bit integers where possible: SciPy requires indices and indptr of equal type.
template <class T>
ZipMember index_member(const std::string& name, bool wide, const std::vector<T>& values) {
  if (wide) return list_member(name, "<i8", std::vector<std::int64_t>(values.begin(), values.end()));
  std::vector<std::int32_t> copy(values.size());
  std::transform(values.begin(), values.end(), copy.begin(),
                 [](T value) { return static_cast<std::int32_t>(value); });
  return list_member(name, "<i4", copy);
}

}  // namespace

NpzMatrix read_npz_matrix(const NamedBytes& file, Repeated repeated) {
  const ZipReader archive(file);
  const auto fail = [&](const std::string& what) { fail_npz(file.path, what); };
  const std::string format = format_of(read_array(archive, "format"));
  if (format != "csr") fail(fmt::format("the matrix is in the format '{}', not 'csr': use .tocsr()", format));
  NpzMatrix m;
  std::vector<std::uint64_t> shape;
  if (!read_array(archive, "shape").whole_numbers(shape) || shape.size() != 2)
    fail("shape is no pair of numbers");
  m.rows = shape[0];
  m.columns = shape[1];
  if (!read_array(archive, "indptr").whole_numbers(m.ends) || m.ends.empty())
    fail("indptr has no whole numbers");
  if (!read_array(archive, "indices").whole_numbers(m.ids)) fail("indices has no whole numbers");
  if (!read_array(archive, "data").numbers(m.values)) fail("data has no numbers");
  check_matrix(m, file.path);
  make_canonical(m, file.path, repeated);
  return m;
}

void write_npz_matrix(const std::string& path, NpzEntries entries, std::uint32_t columns) {
  AtomicFile file(path, FileUse::kAnyOrder);
  write_npz_matrix(file, std::move(entries), columns);
  file.finish();
}

void write_npz_matrix(AtomicFile& file, NpzEntries entries, std::uint32_t columns) {
  const bool wide = entries.ids.size() > std::numeric_limits<std::int32_t>::max() ||
                    columns > std::numeric_limits<std::int32_t>::max();
  const std::int64_t shape[] = {static_cast<std::int64_t>(entries.ends.size() - 1), columns};
  std::vector<ZipMember> members;
  members.push_back(index_member("indices", wide, std::exchange(entries.ids, {})));
  members.push_back(index_member("indptr", wide, std::exchange(entries.ends, {})));
  members.push_back({"format.npy", npy_bytes("|S3", "()", "csr")});
  members.push_back({"shape.npy", npy_bytes("<i8", "(2,)", bytes_of(shape))});
  members.push_back(list_member("data", "<f4", std::exchange(entries.values, {})));
  if (!entries.users.empty()) members.push_back(text_member("users", entries.users));
  write_zip(file, members);
}

}  // namespace slide
