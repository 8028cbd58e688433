#include "datasets/formats/npz_matrix.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <utility>

#include "datasets/formats/npy.h"
#include "datasets/formats/npy_text.h"
#include "datasets/formats/zip_archive.h"
#include "datasets/rows/row_parser.h"
#include "engine/base/byte_io.h"
#include "engine/base/error.h"

namespace slide {

namespace {

constexpr std::uint64_t kMaxColumnNameBytes = std::uint64_t{256} << 20;  // of the names of columns

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

// Throws unless the CSR arrays are consistent: they come from a file and index memory from here on.
void check_matrix(const NpzMatrix& matrix, const std::string& path) {
  if (matrix.columns >= kIdLimit || matrix.rows >= kIdLimit) fail_npz(path, "the matrix is too large");
  if (matrix.ends.size() != matrix.rows + 1 || matrix.ends.front() != 0 ||
      matrix.ends.back() != matrix.ids.size() || !std::is_sorted(matrix.ends.begin(), matrix.ends.end())) {
    fail_npz(path, "indptr does not fit the matrix");
  }
  if (matrix.values.size() != matrix.ids.size()) fail_npz(path, "data and indices have different sizes");
  for (std::size_t row = 0; row < matrix.rows; ++row) {
    for (std::size_t i = matrix.ends[row]; i < matrix.ends[row + 1]; ++i) {
      if (matrix.ids[i] >= matrix.columns) {
        fail_npz(path, fmt::format("row {} has column {}, but there are {}", row,
                                   static_cast<std::int64_t>(matrix.ids[i]), matrix.columns));
      }
      if (!std::isfinite(matrix.values[i]))
        fail_npz(path, fmt::format("row {} has a value that is no finite float", row));
    }
  }
}

struct MatrixEntry {
  std::uint64_t column;
  float value;
  std::uint64_t rank;  // 0 without ranks
};

// Adds up entries of one column, given in stored order. Throws InputError where a float cannot hold the sum.
float sum_of(std::span<const MatrixEntry> entries, std::size_t row, const std::string& path) {
  float sum = entries.front().value;
  for (const MatrixEntry& entry : entries.subspan(1)) {
    sum += entry.value;
    if (!std::isfinite(sum)) {
      fail_npz(path, fmt::format("row {}: the values of column {} sum to more than a float holds", row,
                                 entry.column));
    }
  }
  return sum;
}

// Sorts the columns of each row, and sums duplicates in stored order; `ranks`: of scores, where duplicates
// are an error, else nullptr.
void make_canonical(NpzMatrix& matrix, const std::string& path, std::vector<std::uint64_t>* ranks) {
  std::size_t used = 0, begin = 0;
  std::vector<MatrixEntry> entries;  // of a row
  const bool ranked = ranks != nullptr && !ranks->empty();
  for (std::size_t row = 0; row < matrix.rows; ++row) {
    const std::size_t end = matrix.ends[row + 1];
    entries.clear();
    for (std::size_t i = begin; i < end; ++i)
      entries.push_back({matrix.ids[i], matrix.values[i], ranked ? (*ranks)[i] : 0});
    begin = end;
    std::ranges::stable_sort(entries, {}, &MatrixEntry::column);
    for (std::size_t i = 0, same = 0; i < entries.size(); i = same) {
      while (same < entries.size() && entries[same].column == entries[i].column) ++same;
      if (same > i + 1 && ranks != nullptr)
        fail_npz(path,
                 fmt::format("row {} has column {} twice: use .sum_duplicates()", row, entries[i].column));
      matrix.ids[used] = entries[i].column;
      if (ranked) (*ranks)[used] = entries[i].rank;
      matrix.values[used++] = sum_of(std::span(entries).subspan(i, same - i), row, path);
    }
    matrix.ends[row + 1] = used;
  }
  matrix.ids.resize(used);
  matrix.values.resize(used);
}

// The matrix as it is stored.
NpzMatrix read_stored(const ZipReader& archive) {
  const auto fail = [&](const std::string& what) { fail_npz(archive.path(), what); };
  const std::string format = format_of(read_array(archive, "format"));
  if (format != "csr") fail(fmt::format("the matrix is in the format '{}', not 'csr': use .tocsr()", format));
  NpzMatrix matrix;
  std::vector<std::uint64_t> shape;
  if (!read_array(archive, "shape").whole_numbers(shape) || shape.size() != 2)
    fail("shape is no pair of numbers");
  matrix.rows = shape[0];
  matrix.columns = shape[1];
  if (!read_array(archive, "indptr").whole_numbers(matrix.ends) || matrix.ends.empty())
    fail("indptr has no whole numbers");
  if (!read_array(archive, "indices").whole_numbers(matrix.ids)) fail("indices has no whole numbers");
  if (!read_array(archive, "data").numbers(matrix.values)) fail("data has no numbers");
  check_matrix(matrix, archive.path());
  return matrix;
}

// The names of rows or columns, one for each; none where there is no such member.
std::vector<std::string> read_names(const ZipReader& archive, const std::string& member,
                                    std::uint64_t wanted) {
  if (!archive.has(member + ".npy")) return {};
  const NpyName name = {archive.path(), member, "save names as numpy.array(names, dtype=str)"};
  std::vector<std::string> names = read_npy_texts(archive.read(member + ".npy"), name);
  if (names.size() != wanted)
    name.fail(fmt::format("{} has {} names for {}; give one for each", member, names.size(), wanted));
  return names;
}

// A member with a one-dimensional array.
template <class T>
ZipMember list_member(const std::string& name, std::string_view type, const std::vector<T>& values) {
  return {name + ".npy", npy_bytes(type, fmt::format("({},)", values.size()), bytes_of(values))};
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

NpzMatrix read_npz_matrix(const NamedBytes& file) {
  NpzMatrix matrix = read_stored(ZipReader(file));
  make_canonical(matrix, file.path, nullptr);
  return matrix;
}

NpzMatrix read_npz_labels(const NamedBytes& file) {
  NpzMatrix matrix = read_npz_matrix(file);
  for (std::size_t row = 0; row < matrix.rows; ++row) {
    for (std::size_t i = matrix.ends[row]; i < matrix.ends[row + 1]; ++i) {
      if (matrix.values[i] == 0 || matrix.values[i] == 1) continue;
      fail_input(
          "{}: labels: row {}, column {} is {}; give 1 where a sample has a label, and else 0, as "
          "(Y > 0).astype(int)",
          file.path, row, matrix.ids[i], matrix.values[i]);
    }
  }
  return matrix;
}

// Reads scores, with the names of rows and columns and the ranks of equal scores where the archive has them.
NpzScores read_npz_scores(const NamedBytes& file) {
  const ZipReader archive(file);
  NpzScores scores;
  scores.matrix = read_stored(archive);
  scores.users = read_names(archive, "users", scores.matrix.rows);
  scores.labels = read_names(archive, "labels", scores.matrix.columns);
  if (archive.has("ranks.npy")) {
    if (!read_array(archive, "ranks").whole_numbers(scores.ranks) ||
        scores.ranks.size() != scores.matrix.ids.size()) {
      fail_npz(file.path, "ranks has no whole number for each score");
    }
  }
  make_canonical(scores.matrix, file.path, &scores.ranks);
  return scores;
}

void write_npz_matrix(const std::string& path, NpzEntries entries, std::uint32_t columns) {
  AtomicFile file(path, FileUse::kAnyOrder);
  write_npz_matrix(file, std::move(entries), columns);
  file.finish();
}

// The members of a SciPy CSR matrix, and names and ranks beside them. Indices have 64 bits only where 32 do
// not suffice.
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
  if (!entries.ranks.empty()) members.push_back(index_member("ranks", false, entries.ranks));
  if (!entries.users.empty()) members.push_back({"users.npy", npy_text_bytes(entries.users)});
  if (!entries.labels.empty() && npy_text_size(entries.labels) <= kMaxColumnNameBytes)
    members.push_back({"labels.npy", npy_text_bytes(entries.labels)});
  write_zip(file, members);
}

}  // namespace slide
