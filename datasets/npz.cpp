#include "datasets/npz.h"

#include <zip.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "datasets/row_parser.h"
#include "engine/base/error.h"
#include "engine/base/parallel.h"

namespace slide {

namespace {

static_assert(std::endian::native == std::endian::little,
              "arrays are read and written as they lie in memory");

constexpr std::size_t kReadBytes = std::size_t{1} << 22;  // unpacked at once
constexpr std::size_t kRowsAtOnce = 4096;                 // a task
constexpr std::string_view kNpyMagic = "\x93NUMPY";

// ---- the archive ----

struct ArchiveDeleter {
  void operator()(zip_t* archive) const { zip_discard(archive); }
};
using Archive = std::unique_ptr<zip_t, ArchiveDeleter>;

Archive open_archive(const NamedBytes& file) {
  zip_error_t error;
  zip_error_init(&error);
  zip_source_t* source = zip_source_buffer_create(file.bytes.data(), file.bytes.size(), 0, &error);
  Archive archive(source != nullptr ? zip_open_from_source(source, ZIP_RDONLY, &error) : nullptr);
  const std::string reason = zip_error_strerror(&error);
  if (archive == nullptr && source != nullptr) zip_source_free(source);
  zip_error_fini(&error);
  if (archive == nullptr)
    fail_input("{}: this is no whole .npz file ({}); write or fetch it again", file.path, reason);
  return archive;
}

// The unpacked bytes of a member; its checksum is verified.
std::string read_member(zip_t* archive, const NamedBytes& file, const std::string& name) {
  zip_file_t* member = zip_fopen(archive, name.c_str(), 0);
  if (member == nullptr) {
    fail_input("{}: there is no {} in it; save a CSR matrix with scipy.sparse.save_npz", file.path, name);
  }
  const std::unique_ptr<zip_file_t, decltype(&zip_fclose)> owned(member, &zip_fclose);
  std::string bytes;
  while (true) {
    const std::size_t before = bytes.size();
    bytes.resize(before + kReadBytes);
    const zip_int64_t read = zip_fread(member, bytes.data() + before, kReadBytes);
    if (read < 0) {
      fail_input("{}: {} is damaged ({}); write or fetch the file again", file.path, name,
                 zip_error_strerror(zip_file_get_error(member)));
    }
    bytes.resize(before + static_cast<std::size_t>(read));
    if (read == 0) return bytes;
  }
}

// ---- arrays ----

// One array of NumPy's .npy format.
struct Array {
  std::string bytes;       // the whole member
  std::string_view items;  // of it
  std::string type;        // without byte order: i4, f8, S3
  std::uint64_t count = 0;
};

class ArrayReader {
 public:
  ArrayReader(zip_t* archive, const NamedBytes& file) : archive_(archive), file_(file) {}

  [[noreturn]] void fail(const std::string& what) const {
    fail_input("{}: {}; save a CSR matrix with scipy.sparse.save_npz", file_.path, what);
  }

  Array read(const std::string& name) const {
    Array array;
    array.bytes = read_member(archive_, file_, name + ".npy");
    const std::string_view bytes = array.bytes;
    if (!bytes.starts_with(kNpyMagic) || bytes.size() < 12) fail(name + " is no NumPy array");
    const bool is_old = bytes[6] == 1;  // a length of two bytes, later four
    std::uint32_t length = 0;
    std::memcpy(&length, bytes.data() + 8, is_old ? 2 : 4);
    const std::size_t begin = is_old ? 10 : 12;
    if (length > bytes.size() - begin) fail(name + " is no NumPy array");
    const std::string_view header = bytes.substr(begin, length);
    array.items = bytes.substr(begin + length);
    read_header(name, header, array);
    return array;
  }

 private:
  // The text behind 'key': in the header, which is a Python dict.
  std::string_view value_of(const std::string& name, std::string_view header, std::string_view key) const {
    const std::size_t at = header.find(fmt::format("'{}':", key));
    if (at == std::string_view::npos) fail(fmt::format("{} has no {}", name, key));
    std::string_view value = header.substr(at + key.size() + 3);
    value.remove_prefix(std::min(value.find_first_not_of(' '), value.size()));
    return value;
  }

  void read_header(const std::string& name, std::string_view header, Array& array) const {
    std::string_view type = value_of(name, header, "descr");
    if (!type.starts_with('\'')) fail(name + " has no plain type");
    type = type.substr(1, type.find('\'', 1) - 1);
    if (type.size() < 3 || type[0] == '>')
      fail(fmt::format("{} has the type '{}', which is not read", name, type));
    array.type = type.substr(1);
    std::string_view shape = value_of(name, header, "shape");
    shape = shape.substr(0, shape.find(')'));
    array.count = 1;
    for (std::size_t at = 0; (at = shape.find_first_of("0123456789", at)) != std::string_view::npos;) {
      std::uint64_t size = 0;
      for (; at < shape.size() && shape[at] >= '0' && shape[at] <= '9'; ++at) {
        size = size * 10 + static_cast<std::uint64_t>(shape[at] - '0');
        if (size > array.items.size()) fail(name + " is cut off");
      }
      if (size != 0 && array.count > array.items.size() / size) fail(name + " is cut off");
      array.count *= size;
    }
    const std::size_t width = width_of(name, array.type);
    if (array.items.size() / width != array.count || array.items.size() % width != 0) {
      fail(name + " has another size than its header says");
    }
  }

  std::size_t width_of(const std::string& name, const std::string& type) const {
    std::size_t width = 0;
    for (const char c : type.substr(1)) {
      if (c < '0' || c > '9' || width > 1000)
        fail(fmt::format("{} has the type '{}', which is not read", name, type));
      width = width * 10 + static_cast<std::size_t>(c - '0');
    }
    return std::max<std::size_t>(type[0] == 'U' ? 4 * width : width, 1);
  }

  zip_t* archive_;
  const NamedBytes& file_;
};

template <class T, class To>
void convert(const Array& array, std::vector<To>& values) {
  for (std::size_t i = 0; i < array.count; ++i) {
    T value;
    std::memcpy(&value, array.items.data() + i * sizeof(T), sizeof value);
    values[i] = static_cast<To>(value);
  }
}

// Whether the type is one of numbers; negative whole numbers become huge.
template <class To>
bool numbers_of(const Array& array, bool floats, std::vector<To>& values) {
  values.resize(array.count);
  const auto is = [&](std::string_view type) { return array.type == type; };
  if (is("i4"))
    convert<std::int32_t>(array, values);
  else if (is("i8"))
    convert<std::int64_t>(array, values);
  else if (is("u4"))
    convert<std::uint32_t>(array, values);
  else if (is("u8"))
    convert<std::uint64_t>(array, values);
  else if (is("i2"))
    convert<std::int16_t>(array, values);
  else if (is("u2"))
    convert<std::uint16_t>(array, values);
  else if (is("i1"))
    convert<std::int8_t>(array, values);
  else if (is("u1") || is("b1"))
    convert<std::uint8_t>(array, values);
  else if (floats && is("f4"))
    convert<float>(array, values);
  else if (floats && is("f8"))
    convert<double>(array, values);
  else
    return false;
  return true;
}

// ---- the matrix ----

struct Matrix {
  std::uint64_t rows = 0, columns = 0;
  std::vector<std::uint64_t> ends;  // rows + 1, from 0
  std::vector<std::uint64_t> ids;
  std::vector<float> values;
};

std::string format_of(const Array& array) {
  std::string text;  // as bytes, or as code points of four
  for (const char c : array.items) {
    if (c != '\0') text += c;
  }
  return text;
}

void check_matrix(const ArrayReader& reader, const Matrix& m) {
  if (m.columns >= kIdLimit || m.rows >= kIdLimit) reader.fail("the matrix is too large");
  if (m.ends.size() != m.rows + 1 || m.ends.front() != 0 || m.ends.back() != m.ids.size() ||
      !std::is_sorted(m.ends.begin(), m.ends.end())) {
    reader.fail("indptr does not fit the matrix");
  }
  if (m.values.size() != m.ids.size()) reader.fail("data and indices have different sizes");
  for (std::size_t row = 0; row < m.rows; ++row) {
    for (std::size_t i = m.ends[row]; i < m.ends[row + 1]; ++i) {
      if (m.ids[i] >= m.columns) {
        reader.fail(fmt::format("row {} has column {}, but there are {}", row,
                                static_cast<std::int64_t>(m.ids[i]), m.columns));
      }
      if (!std::isfinite(m.values[i]))
        reader.fail(fmt::format("row {} has a value that is no finite float", row));
    }
  }
}

// Sorts the columns of each row and sums what is there twice.
void make_canonical(Matrix& m) {
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
        m.values[used - 1] += value;
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

Matrix read_matrix(const NamedBytes& file) {
  const Archive archive = open_archive(file);
  const ArrayReader reader(archive.get(), file);
  const std::string format = format_of(reader.read("format"));
  if (format != "csr")
    reader.fail(fmt::format("the matrix is in the format '{}', not 'csr': use .tocsr()", format));
  Matrix m;
  std::vector<std::uint64_t> shape;
  if (!numbers_of(reader.read("shape"), false, shape) || shape.size() != 2)
    reader.fail("shape is no pair of numbers");
  m.rows = shape[0];
  m.columns = shape[1];
  if (!numbers_of(reader.read("indptr"), false, m.ends) || m.ends.empty())
    reader.fail("indptr has no whole numbers");
  if (!numbers_of(reader.read("indices"), false, m.ids)) reader.fail("indices has no whole numbers");
  if (!numbers_of(reader.read("data"), true, m.values)) reader.fail("data has no numbers");
  check_matrix(reader, m);
  make_canonical(m);
  return m;
}

void keep_nonzero(Matrix& m) {
  std::size_t used = 0, begin = 0;
  for (std::size_t r = 0; r < m.rows; ++r) {
    const std::size_t end = m.ends[r + 1];
    for (std::size_t i = begin; i < end; ++i) {
      if (m.values[i] != 0) m.ids[used++] = m.ids[i];
    }
    begin = end;
    m.ends[r + 1] = used;
  }
  m.ids.resize(used);
}

void check_limit(const NamedBytes& file, const Matrix& m, std::uint32_t limit, const char* what) {
  const auto largest = std::max_element(m.ids.begin(), m.ids.end());
  if (limit == 0 || largest == m.ids.end() || *largest < limit) return;
  fail_input("{}: {} {} is out of range; ids must be below {}: correct the id or the number of {}s",
             file.path, what, *largest, limit, what);
}

// ---- writing ----

// A member in the making; the archive reads the bytes when it is closed.
using Members = std::vector<std::pair<std::string, std::string>>;

template <class T>
void add_array(Members& members, const std::string& name, const char* type, const std::string& shape,
               const T* values, std::size_t count) {
  std::string header = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': {}, }}", type, shape);
  header.append(63 - (10 + header.size()) % 64, ' ').push_back('\n');
  const auto length = static_cast<std::uint16_t>(header.size());
  std::string bytes(kNpyMagic);
  bytes.append({'\x01', '\0', static_cast<char>(length & 0xff), static_cast<char>(length >> 8)})
      .append(header);
  bytes.append(reinterpret_cast<const char*>(values), count * sizeof(T));
  members.emplace_back(name + ".npy", std::move(bytes));
}

// As 32-bit numbers where they fit: SciPy wants indices and indptr of the same type.
template <class T>
void add_indices(Members& members, const std::string& name, bool wide, const std::vector<T>& values) {
  const std::string shape = fmt::format("({},)", values.size());
  if (wide) {
    const std::vector<std::int64_t> copy(values.begin(), values.end());
    add_array(members, name, "<i8", shape, copy.data(), copy.size());
  } else {
    std::vector<std::int32_t> copy(values.size());
    std::transform(values.begin(), values.end(), copy.begin(),
                   [](T value) { return static_cast<std::int32_t>(value); });
    add_array(members, name, "<i4", shape, copy.data(), copy.size());
  }
}

void write_archive(const std::string& path, const Members& members) {
  int code = 0;
  Archive archive(zip_open(path.c_str(), ZIP_CREATE | ZIP_TRUNCATE, &code));
  const auto fail = [&](const std::string& reason) {
    fail_run("{}: cannot be written ({}); check the folder, its permissions and the space on its disk", path,
             reason);
  };
  if (archive == nullptr) {
    zip_error_t error;
    zip_error_init_with_code(&error, code);
    const std::string reason = zip_error_strerror(&error);
    zip_error_fini(&error);
    fail(reason);
  }
  for (const auto& [name, bytes] : members) {
    zip_source_t* source = zip_source_buffer(archive.get(), bytes.data(), bytes.size(), 0);
    const zip_int64_t index =
        source == nullptr ? -1 : zip_file_add(archive.get(), name.c_str(), source, ZIP_FL_OVERWRITE);
    if (index < 0) {
      zip_source_free(source);
      fail(zip_strerror(archive.get()));
    }
    const auto member = static_cast<zip_uint64_t>(index);
    zip_set_file_compression(archive.get(), member, ZIP_CM_DEFLATE, 1);
    zip_file_set_dostime(archive.get(), member, 0, 0x21, 0);  // 1980: the same bytes for the same data
  }
  if (zip_close(archive.get()) != 0) fail(zip_strerror(archive.get()));
  archive.release();  // closed
}

struct Entries {
  std::vector<std::uint64_t> ends{0};
  std::vector<std::uint32_t> ids;
  std::vector<float> values;
};

void write_matrix(const std::string& path, const Entries& entries, std::uint32_t columns) {
  Members members;
  const bool wide = entries.ids.size() > std::numeric_limits<std::int32_t>::max() ||
                    columns > std::numeric_limits<std::int32_t>::max();
  add_indices(members, "indices", wide, entries.ids);
  add_indices(members, "indptr", wide, entries.ends);
  const char format[] = {'c', 's', 'r'};
  add_array(members, "format", "|S3", "()", format, sizeof format);
  const std::int64_t shape[] = {static_cast<std::int64_t>(entries.ends.size() - 1), columns};
  add_array(members, "shape", "<i8", "(2,)", shape, 2);
  add_array(members, "data", "<f4", fmt::format("({},)", entries.values.size()), entries.values.data(),
            entries.values.size());
  write_archive(path, members);
}

bool ends_like_npz(std::string_view path) {
  return path.ends_with(".npz");
}

}  // namespace

bool is_npz(std::string_view bytes) {
  return bytes.starts_with("PK\x03\x04");
}

bool is_npz_pair(const std::string& path) {
  const std::size_t comma = path.find(".npz,");
  return comma != std::string::npos && ends_like_npz(path);
}

NpzPaths npz_paths(const std::string& path) {
  if (is_npz_pair(path)) {
    const std::size_t comma = path.find(".npz,") + 4;
    return {path.substr(0, comma), path.substr(comma + 1)};
  }
  const std::size_t name = path.rfind('/') == std::string::npos ? 0 : path.rfind('/') + 1;
  if (name >= path.size() || path[name] != 'X') {
    fail_input(
        "{}: features and labels are two files; call them X....npz and Y....npz, or name both: "
        "FEATURES.npz,LABELS.npz",
        path);
  }
  std::string labels = path;
  labels[name] = 'Y';
  return {path, labels};
}

CsrSizes parse_npz(const NamedBytes& features, const NamedBytes& labels, const ReadOptions& options,
                   CsrSink& sink) {
  Matrix x = read_matrix(features);
  Matrix y = read_matrix(labels);
  if (x.rows != y.rows) {
    fail_input("{}: {} rows of labels, but {} has {} rows of features; they must be of the same samples",
               labels.path, y.rows, features.path, x.rows);
  }
  if (x.rows == 0) fail_input("{}: the matrix has no rows; check the path of the data", features.path);
  keep_nonzero(y);
  check_limit(features, x, options.feature_limit, "feature");
  check_limit(labels, y, options.label_limit, "label");
  const int threads = resolve_threads(options.threads);
  sink.start({x.rows, x.ids.size(), y.ids.size()}, threads);
  parallel_for((x.rows + kRowsAtOnce - 1) / kRowsAtOnce, threads, [&](std::size_t task, int thread) {
    const std::size_t first = task * kRowsAtOnce, last = std::min<std::size_t>(first + kRowsAtOnce, x.rows);
    const CsrCounts before = {first, x.ends[first], y.ends[first]};
    const CsrCounts count = {last - first, x.ends[last] - x.ends[first], y.ends[last] - y.ends[first]};
    const CsrRoom room = sink.open(before, count, thread);
    for (std::size_t i = 0; i < count.features; ++i) {
      room.feature_ids[i] = static_cast<std::uint32_t>(x.ids[before.features + i]);
      room.feature_values[i] = x.values[before.features + i];
    }
    for (std::size_t i = 0; i < count.labels; ++i) {
      room.label_ids[i] = static_cast<std::uint32_t>(y.ids[before.labels + i]);
    }
    for (std::size_t row = first; row < last; ++row) {
      room.feature_ends[row - first] = x.ends[row + 1];
      room.label_ends[row - first] = y.ends[row + 1];
      if (!options.normalize) continue;
      scale_to_unit_length(room.feature_values + (x.ends[row] - before.features),
                           x.ends[row + 1] - x.ends[row]);
    }
    sink.close(thread);
  });
  const auto bound = [](const Matrix& m) {
    return m.ids.empty() ? 0 : *std::max_element(m.ids.begin(), m.ids.end()) + 1;
  };
  return {x.columns, y.columns, bound(x), bound(y)};
}

void write_npz(const Dataset& data, const NpzPaths& paths) {
  Entries entries;
  entries.ids.reserve(data.feature_entries());
  entries.values.reserve(data.feature_entries());
  for (std::size_t i = 0; i < data.size(); ++i) {
    const SparseRow row = data.features(i);
    entries.ids.insert(entries.ids.end(), row.ids.begin(), row.ids.end());
    entries.values.insert(entries.values.end(), row.values.begin(), row.values.end());
    entries.ends.push_back(entries.ids.size());
  }
  write_matrix(paths.features, entries, data.feature_count());
  entries = {};
  for (std::size_t i = 0; i < data.size(); ++i) {
    const auto labels = data.labels(i);
    entries.ids.insert(entries.ids.end(), labels.begin(), labels.end());
    entries.ends.push_back(entries.ids.size());
  }
  entries.values.assign(entries.ids.size(), 1.0F);
  write_matrix(paths.labels, entries, data.label_count());
}

}  // namespace slide
