#include "engine/cli/sample_input.h"

#include <sys/stat.h>
#include <unistd.h>

#include <memory>
#include <utility>

#include "datasets/formats/detect.h"
#include "datasets/formats/idx.h"
#include "datasets/formats/npz.h"
#include "datasets/reader.h"
#include "datasets/rows/data_parts.h"
#include "datasets/rows/file_bytes.h"
#include "datasets/rows/labelled_line.h"
#include "datasets/rows/line_chunks.h"
#include "datasets/rows/read_report.h"
#include "datasets/rows/unpack.h"
#include "datasets/rows/xmc_header.h"
#include "datasets/text/plain_text_check.h"
#include "datasets/text/prediction_check.h"
#include "datasets/text/table.h"
#include "engine/base/error.h"
#include "engine/cli/line_source.h"
#include "engine/cli/text.h"
#include "engine/run/known_users.h"
#include "engine/run/run_data.h"
#include "engine/run/users_log.h"

namespace slide::cli {

namespace {

constexpr const char* kStandardInputFile = "/dev/stdin";

// Whether standard input is a file at its beginning that can be opened again.
bool standard_input_is_file() {
  struct stat status {};
  return fstat(STDIN_FILENO, &status) == 0 && S_ISREG(status.st_mode) &&
         lseek(STDIN_FILENO, 0, SEEK_CUR) == 0 && access(kStandardInputFile, R_OK) == 0;
}

// Whether the first line has only labels, or is empty: a sample without features.
bool is_labels_only(std::string_view bytes) {
  const std::string_view line = bytes.substr(0, bytes.find('\n'));
  return line.find_first_not_of("0123456789,+-. \t\r") == std::string_view::npos || line.starts_with('#');
}

// Takes the rows that the stream kept until its end.
void take_rest(RowStream& stream, const SampleInput::Take& take) {
  const RowPart rest = stream.finish();
  if (rest.rows.size() > 0) take(rest);
}

// Whether the path is a file of dense features only, without labels.
bool is_dense_file(const std::string& path) {
  const std::optional<DensePaths> dense = dense_paths(path);
  return dense && dense->beside.empty();
}

// Whether the samples beside dense features are one file of sparse ones, as X.npy+X.npz.
bool is_array_beside(const DensePaths& paths) {
  return paths.samples && !is_file_list(paths.beside) && detect_file(paths.beside) == DataFormat::kNpz;
}

bool is_binary(std::string_view bytes) {
  return is_packed(bytes) || is_idx_images(bytes) || is_npz(bytes);
}

}  // namespace

SampleInput::SampleInput(const Model& model, const ModelUse& use, const std::string& path, Cluster& cluster,
                         bool names)
    : model_(model),
      use_(use),
      cluster_(cluster),
      path_(path == "-" ? kStandardInputFile : expanded(path)),
      origin_(path == "-" ? kStandardInput : path_),
      in_pieces_(path == "-" && (cluster.size() > 1 || !standard_input_is_file())),
      names_(names) {}

// Chooses how to read by the kind of input: pipes in pieces, several files, dense arrays, lists of files, or
// one file as bytes.
void SampleInput::for_each_part(const Take& take) const {
  if (in_pieces_) return take_pieces(take);
  if (const std::vector<std::string> parts = parts_of(path_); parts.size() > 1)
    return take_files(parts, take);
  if (origin_ == path_ && is_dense_file(path_))
    return take({read_dense_features(path_, model_read_options(model_, use_.threads)), {}, {}});
  if (const std::optional<DensePaths> dense = dense_paths(path_); dense && is_array_beside(*dense))
    return take_array_with_dense(*dense, take);
  if (is_file_list(path_)) {
    TestData data = read_test_data(path_, model_, use_.threads);
    return take({std::move(data.rows), {}, {}, data.report.unknown_features});
  }
  const FileBytes bytes(path_);
  if (const std::optional<DataFormat> format = array_format()) return take_array(bytes.text(), *format, take);
  if (bytes.text().empty() && origin_ == path_ && model_.text == nullptr)
    fail_input("{}:1:1: the file is empty; check the path of the data", path_);
  take_bytes(bytes.text(), take);
}

// Reads each file separately, except logs, where a user may occur in several files.
void SampleInput::take_files(const std::vector<std::string>& files, const Take& take) const {
  const bool is_log = use_.format ? *use_.format == DataFormat::kInteractions
                                  : model_.config.data.kind == DataKind::kInteractions;
  if (is_log)
    return take_users([&](const ReadOptions& options) { return read_dataset(path_, options); }, take);
  for (const std::string& file : files) SampleInput(model_, use_, file, cluster_).for_each_part(take);
}

// Reads standard input in pieces, until the format is known. Then rows are passed on piece by piece; binary
// data and logs only as a whole.
void SampleInput::take_pieces(const Take& take) const {
  SharedLines source(cluster_, STDIN_FILENO);
  std::string head(source.next());
  const auto read_more = [&] {
    const std::string_view more = source.next();
    head += more;
    return !more.empty();
  };
  const auto read_all = [&] {
    while (read_more()) {
    }
  };
  while (!head.empty() && !shows_format(head) && read_more()) {
  }
  if (is_binary(head)) {
    read_all();
    return take_bytes(is_packed(head) ? unpack(head, origin_) : head, take);
  }
  if (head.empty()) return;
  if (format_of(head) == DataFormat::kInteractions) {  // a user may have several lines
    read_all();
    return take_bytes(head, take);
  }
  const DataFormat format = format_of(head);
  const Take take_checked = taking_checked(head, format, take);
  RowStream stream = stream_of(format);
  for (std::string_view lines = head; !lines.empty(); lines = source.next()) take_checked(stream.read(lines));
  take_rest(stream, take_checked);
}

// Text is parsed in pieces of whole lines, which bounds the memory for its rows; arrays are parsed at once.
void SampleInput::take_bytes(std::string_view bytes, const Take& take) const {
  if (bytes.empty()) return;
  const DataFormat format = format_of(bytes);
  if (format == DataFormat::kIdx || format == DataFormat::kNpz) return take_array(bytes, format, take);
  if (format == DataFormat::kInteractions)
    return take_users([&](const ReadOptions& options) { return parse_dataset(bytes, origin_, options); },
                      take);
  const Take take_checked = taking_checked(bytes, format, take);
  RowStream stream = stream_of(format);
  if (format != DataFormat::kText && !is_table(format)) {
    take_checked(stream.read(bytes));
  } else {
    for (const std::string_view lines : cut_lines(bytes, LineSource::kMaxBytes, [](auto, auto) {}))
      take_checked(stream.read(lines));
  }
  take_rest(stream, take_checked);
}

// Returns `take`. Where the lines are probably records of a table or predictions, the returned function adds
// a warning to the first part. Throws InputError for lines of text that are predictions.
SampleInput::Take SampleInput::taking_checked(std::string_view head, DataFormat format,
                                              const Take& take) const {
  if (use_.format || is_table(format)) return take;
  std::string warning;
  if (format == DataFormat::kText) {
    if (const std::string found = predictions_of_names(head, origin_); !found.empty())
      fail_input("{}", found);
    const std::string columns = model_read_options(model_, use_.threads).columns.text;
    warning = plain_text_warning(head, origin_, columns);
  } else {
    warning = predictions_of_ids(head, origin_);
  }
  if (warning.empty()) return take;
  return [&take, warning = std::move(warning), has_warned = false](const RowPart& part) mutable {
    if (std::exchange(has_warned, true)) return take(part);
    RowPart warned = part;
    warned.warnings.push_back(warning);
    take(warned);
  };
}

// Features alone; labels beside them are not read.
void SampleInput::take_array(std::string_view bytes, DataFormat format, const Take& take) const {
  ReadOptions options = model_read_options(model_, use_.threads);
  require_no_dense(origin_, options);
  options.format = format;
  ReadReport report;
  options.report = &report;
  Dataset rows = parse_features(bytes, origin_, options);
  take({std::move(rows), {}, {}, report.unknown_features});
}

// Dense rows with an .npz matrix of sparse features beside them.
void SampleInput::take_array_with_dense(const DensePaths& paths, const Take& take) const {
  ReadOptions options = model_read_options(model_, use_.threads);
  ReadReport report;
  options.report = &report;
  const auto read = [](const std::string& file, const ReadOptions& reading) {
    ReadOptions of_npz = reading;
    of_npz.format = DataFormat::kNpz;
    const FileBytes bytes(file);
    return parse_features(bytes.text(), file, of_npz);
  };
  Dataset rows = read_dense_data(paths, options, read);
  take({std::move(rows), {}, {}, report.unknown_features});
}

// The log that users are looked up in; empty where it is the input itself, or cannot be used: `notes` say
// why.
std::string SampleInput::known_log(std::vector<std::string>& notes) const {
  const DataConfig& data = model_.config.data;
  if (data.kind != DataKind::kInteractions) return {};
  if (origin_ == path_ && expanded(log_of_users(data)) == path_) return {};
  std::string known = usable_users_log(model_, notes);
  if (!known.empty() && !model_.known_given)
    print_notes({fmt::format("users are looked up in {}, which the model names", known)});
  return known;
}

// Passes on all users as one part. Users without known items are a warning; an error where all are, and their
// log could not be used.
void SampleInput::take_users(const ReadAsked& read, const Take& take) const {
  const auto asked = std::make_shared<AskedUsers>();
  std::vector<std::string> notes;
  read_asked_users(read, known_log(notes), model_read_options(model_, use_.threads), *asked);
  const std::size_t without = asked->without_items;
  RowPart part;
  part.warnings = asked->report.warnings;
  if (!asked->of_known.empty()) (without == 0 ? part.warnings : notes).push_back(asked->of_known);
  const std::string why = fmt::format("{}", fmt::join(notes, "; "));
  if (names_ && !why.empty() && without > 0 && without == asked->rows.size())
    fail_input("{}: no user has an item that the model knows; {}, or give items behind the names", origin_,
               why);
  if (without == 0) {
    print_notes(notes);
  } else {
    part.warnings.push_back(users_without_items(origin_, without, asked->rows.size(), asked->without) +
                            (why.empty() ? "" : "; " + why));
  }
  part.rows = asked->rows;
  part.unknown_features = asked->report.unknown_features;
  part.users = std::shared_ptr<const LogUsers>(asked, &asked->users);
  take(part);
}

// The format of a file of arrays, IDX or npz, which are not read by lines; nothing for other files.
std::optional<DataFormat> SampleInput::array_format() const {
  if (origin_ != path_) return std::nullopt;
  const std::optional<DataFormat> format = use_.format ? use_.format : detect_file(path_);
  return format == DataFormat::kIdx || format == DataFormat::kNpz ? format : std::nullopt;
}

// Whether more bytes could not change the result of format_of().
bool SampleInput::shows_format(std::string_view head) const {
  if (use_.format || is_binary(head) || model_.text != nullptr) return true;
  return has_line_of_data(head) && !is_lone_features_header(head);
}

// The format of the input, by --format, the kind of the model, then the content. Throws InputError where it
// does not fit the model.
DataFormat SampleInput::format_of(std::string_view head) const {
  if (use_.format) return *use_.format;
  if (model_.config.data.kind == DataKind::kInteractions) return DataFormat::kInteractions;
  if (const std::optional<DataFormat> table = table_format_of(head)) return *table;
  if (const std::optional<DataFormat> features = features_format_of(head)) return *features;
  const std::optional<std::string> foreign = foreign_kind(head);
  const bool text = model_.text != nullptr;
  // Texts may be numbers with blanks between them.
  const bool log = text && detect_format(head) == DataFormat::kInteractions &&
                   head.substr(0, head.find('\n')).find_first_of(" \t") == std::string_view::npos;
  if (log)
    fail_input(
        "{}:1:1: this looks like a log of interactions, but the model was trained on text; give texts, one a "
        "line, or set --format text",
        origin_);
  if (text && (!foreign || foreign->starts_with("JSON")))
    return DataFormat::kText;  // any words form a line of text
  if (foreign) fail_input("{}:1:1: this is {}", origin_, *foreign);
  if (const std::optional<DataFormat> format = detect_format(head)) return *format;
  if (is_labels_only(head)) return DataFormat::kLibsvm;
  fail_input(
      "{}:1:1: the model was trained on features, and this is no line 'label,label id:value ...'; use one "
      "trained "
      "on text if it is text",
      origin_);
}

// Format of a table with the columns that the model was trained on. Throws InputError for a file with a
// table's name that lacks them.
std::optional<DataFormat> SampleInput::table_format_of(std::string_view head) const {
  const ReadOptions options = model_read_options(model_, use_.threads);
  if (options.text == nullptr || options.columns.text.empty()) return {};
  if (const std::optional<DataFormat> table = detect_table(head, options.columns)) return table;
  if (const std::optional<DataFormat> named = table_format_of_name(origin_))
    Table(head, origin_, *named, options.columns, Labels::kOptional);
  return {};
}

// The format of features that `head` certainly has; nullopt for text, and where the content does not tell. A
// model of libsvm data reads lines of features as libsvm, though the first one may look like a header.
std::optional<DataFormat> SampleInput::features_format_of(std::string_view head) const {
  if (is_idx_images(head)) return DataFormat::kIdx;
  if (is_npz(head)) return DataFormat::kNpz;
  const bool has_header = has_xmc_header(head) || has_features_header(head);
  const bool of_text = model_.text != nullptr;
  if (of_text && !has_header && !looks_like_features(head.substr(0, head.find('\n')))) return std::nullopt;
  if (model_.config.data.format == DataFormat::kLibsvm) return DataFormat::kLibsvm;
  if (has_header) return DataFormat::kXmc;
  return of_text ? std::optional(DataFormat::kLibsvm) : std::nullopt;
}

RowStream SampleInput::stream_of(DataFormat format) const {
  ReadOptions options = model_read_options(model_, use_.threads);
  options.format = format;
  if ((format == DataFormat::kText || is_table(format)) && options.text == nullptr)
    fail_input(
        "{}: this is text, but there is no vocabulary for it: the model was trained on features, not on "
        "text; "
        "use one trained on text",
        origin_);
  return {origin_, options};
}

}  // namespace slide::cli
