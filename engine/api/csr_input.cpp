#include "engine/api/csr_input.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "datasets/rows/row_parser.h"
#include "engine/base/error.h"
#include "engine/base/parallel.h"

namespace slide::api {

namespace {

constexpr std::size_t kRowsToCheck = 4096;

// One of the two matrices: views of its arrays, and copies of arrays that could not be borrowed.
struct Matrix {
  const char* name;
  std::span<const std::uint64_t> offsets;
  std::span<const std::uint32_t> ids;
  std::span<const float> values;
  std::uint32_t columns = 0;
  std::vector<std::uint64_t> own_offsets;
  std::vector<std::uint32_t> own_ids;
  std::vector<float> own_values;

  explicit Matrix(const char* called) : name(called) {}
  std::size_t rows() const { return offsets.size() - 1; }
  std::size_t own_bytes() const {
    return own_offsets.size() * sizeof(std::uint64_t) + own_ids.size() * sizeof(std::uint32_t) +
           own_values.size() * sizeof(float);
  }
};

// Calls f with the array as a span of its element type.
template <class F>
auto with_type(const Integers& array, F&& f) {
  const auto span = [&]<class T>(T) { return std::span(static_cast<const T*>(array.data()), array.size()); };
  switch (array.type()) {
    case Integers::Type::kInt32:
      return f(span(std::int32_t{}));
    case Integers::Type::kUint32:
      return f(span(std::uint32_t{}));
    case Integers::Type::kInt64:
      return f(span(std::int64_t{}));
    default:
      return f(span(std::uint64_t{}));
  }
}

bool is_64_bit(const Integers& array) {
  return array.type() == Integers::Type::kInt64 || array.type() == Integers::Type::kUint64;
}

// Negative numbers become too large for any offset or id.
template <class T>
std::uint64_t unsigned_of(T value) {
  return static_cast<std::uint64_t>(static_cast<std::int64_t>(value));
}

// Sets the offsets as 64-bit numbers, without a copy where they are 64-bit already, and checks that they
// ascend from 0 to the number of ids.
void take_offsets(const CsrMatrix& from, Matrix& matrix) {
  const Integers& given = from.offsets;
  if (given.size() == 0 || given.data() == nullptr)
    fail_input("{}: there are no offsets; give rows + 1 of them, the first 0", matrix.name);
  if (is_64_bit(given)) {
    matrix.offsets = {static_cast<const std::uint64_t*>(given.data()), given.size()};
  } else {
    with_type(given, [&](auto values) {
      matrix.own_offsets.resize(values.size());
      std::transform(values.begin(), values.end(), matrix.own_offsets.begin(),
                     [](auto value) { return unsigned_of(value); });
    });
    matrix.offsets = matrix.own_offsets;
  }
  const auto end = matrix.offsets.end();
  if (const auto at = std::adjacent_find(matrix.offsets.begin(), end, std::greater<>()); at != end) {
    fail_input("{}: row {}: its offsets do not ascend; they must count the entries of the rows before",
               matrix.name, at - matrix.offsets.begin());
  }
  if (matrix.offsets.front() != 0 || matrix.offsets.back() != from.ids.size()) {
    fail_input("{}: the offsets go from {} to {}, but there are {} ids; they must go from 0 to that number",
               matrix.name, static_cast<std::int64_t>(matrix.offsets.front()),
               static_cast<std::int64_t>(matrix.offsets.back()), from.ids.size());
  }
}

// Result of checking some rows.
struct Found {
  std::uint64_t columns = 0;  // upper bound of all ids
  bool ascending = true;      // in every row, without repeats
  std::string fault;          // the first error, or empty
};

template <class T>
Found look_at_rows(const Matrix& matrix, std::span<const T> ids, std::size_t first, std::size_t end,
                   std::uint64_t limit) {
  Found found;
  for (std::size_t row = first; row < end; ++row) {
    for (std::uint64_t i = matrix.offsets[row]; i < matrix.offsets[row + 1]; ++i) {
      const std::uint64_t id = unsigned_of(ids[i]);
      if (id >= limit) {
        found.fault = fmt::format("{}: row {}: id {} is out of range; ids must be below {} and not negative",
                                  matrix.name, row, ids[i], limit);
        return found;
      }
      if (!matrix.values.empty() && !std::isfinite(matrix.values[i])) {
        found.fault =
            fmt::format("{}: row {}: the value of id {} is not finite; give a number or leave it out",
                        matrix.name, row, id);
        return found;
      }
      if (i > matrix.offsets[row] && unsigned_of(ids[i - 1]) >= id) found.ascending = false;
      found.columns = std::max(found.columns, id + 1);
    }
  }
  return found;
}

// Checks all rows in parallel; the reported error is the first one for any number of threads.
template <class T>
Found look_at(const Matrix& matrix, std::span<const T> ids, std::uint64_t limit) {
  std::vector<Found> parts((matrix.rows() + kRowsToCheck - 1) / kRowsToCheck);
  parallel_for(parts.size(), available_threads(), [&](std::size_t part, int) {
    const std::size_t first = part * kRowsToCheck;
    parts[part] = look_at_rows(matrix, ids, first, std::min(first + kRowsToCheck, matrix.rows()), limit);
  });
  Found all;
  for (const Found& part : parts) {
    if (!part.fault.empty()) throw InputError(part.fault);
    all.columns = std::max(all.columns, part.columns);
    all.ascending = all.ascending && part.ascending;
  }
  return all;
}

// Copies all rows with sorted ids; equal ids become one entry, with values summed in their original order.
template <class T>
void sort_rows(std::span<const T> ids, Matrix& matrix) {
  std::vector<std::uint64_t> offsets{0}, order;
  std::vector<std::uint32_t> sorted;
  std::vector<float> values;
  for (std::size_t row = 0; row < matrix.rows(); ++row) {
    order.clear();
    for (std::uint64_t i = matrix.offsets[row]; i < matrix.offsets[row + 1]; ++i) order.push_back(i);
    std::ranges::stable_sort(order, {}, [&](std::uint64_t i) { return ids[i]; });
    for (const std::uint64_t i : order) {
      const auto id = static_cast<std::uint32_t>(ids[i]);
      const bool is_repeated = sorted.size() > offsets.back() && sorted.back() == id;
      if (!is_repeated) sorted.push_back(id);
      if (matrix.values.empty()) continue;
      if (is_repeated) {
        values.back() += matrix.values[i];
      } else {
        values.push_back(matrix.values[i]);
      }
      if (!std::isfinite(values.back()))
        fail_input("{}: row {}: the values of id {} sum to more than a float holds; scale them", matrix.name,
                   row, id);
    }
    offsets.push_back(sorted.size());
  }
  matrix.own_offsets = std::move(offsets);
  matrix.own_ids = std::move(sorted);
  matrix.own_values = std::move(values);
  matrix.offsets = matrix.own_offsets;
  matrix.ids = matrix.own_ids;
  matrix.values = matrix.own_values;
}

void check_columns(const CsrMatrix& from, const Matrix& matrix) {
  if (from.columns > kIdLimit) fail_input("{}: {} columns; ids have 32 bits", matrix.name, from.columns);
}

// Borrows 32-bit ids of ascending rows, copies 64-bit ones, and sorts a copy where a row is unsorted.
void take_ids(const CsrMatrix& from, Matrix& matrix) {
  check_columns(from, matrix);
  const std::uint64_t limit = from.columns != 0 ? from.columns : kIdLimit;
  with_type(from.ids, [&](auto ids) {
    const Found found = look_at(matrix, ids, limit);
    matrix.columns = static_cast<std::uint32_t>(from.columns != 0 ? from.columns : found.columns);
    if (!found.ascending) return sort_rows(ids, matrix);
    if (!is_64_bit(from.ids)) {
      matrix.ids = {static_cast<const std::uint32_t*>(from.ids.data()), from.ids.size()};
      return;
    }
    matrix.own_ids.assign(ids.begin(), ids.end());
    matrix.ids = matrix.own_ids;
  });
}

void take(const CsrMatrix& from, Matrix& matrix) {
  if (from.values != nullptr) matrix.values = {from.values, from.ids.size()};
  take_offsets(from, matrix);
  take_ids(from, matrix);
}

// Owner of everything that the data set views.
struct Storage {
  Matrix features{"features"}, labels{"labels"};
  std::shared_ptr<const void> keep_alive;
};

}  // namespace

// Checks and takes both matrices; missing feature values are 1, missing labels are rows without labels.
CsrInput take_csr(const CsrMatrix& features, const CsrMatrix& labels, std::shared_ptr<const void> keep_alive,
                  const char* features_name) {
  const auto storage = std::make_shared<Storage>();
  storage->features.name = features_name;
  Matrix &x = storage->features, &y = storage->labels;
  storage->keep_alive = std::move(keep_alive);
  take(features, x);
  if (features.values == nullptr) {
    x.own_values.assign(x.ids.size(), 1.0F);
    x.values = x.own_values;
  }
  if (labels.values != nullptr) fail_input("labels: values mean nothing here; every entry is a label");
  if (labels.offsets.size() != 0) {
    take(labels, y);
  } else {
    check_columns(labels, y);
    y.columns = static_cast<std::uint32_t>(labels.columns);
    y.own_offsets.assign(x.rows() + 1, 0);
    y.offsets = y.own_offsets;
  }
  if (x.rows() != y.rows())
    fail_input("{} rows of {}, but {} of labels; they must be of the same samples", x.rows(), x.name,
               y.rows());
  const DatasetView view = {x.offsets, x.ids, x.values, y.offsets, y.ids};
  return {view, x.columns, y.columns, storage, x.own_bytes() + y.own_bytes()};
}

}  // namespace slide::api
