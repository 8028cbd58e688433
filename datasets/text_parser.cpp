#include "datasets/text_parser.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <optional>
#include <utility>
#include <vector>

#include "datasets/line_chunks.h"
#include "datasets/number_parser.h"
#include "datasets/row_parser.h"
#include "engine/base/error.h"
#include "engine/base/parallel.h"

namespace slide {

namespace {

constexpr std::uint64_t kEmptyRows = 1 << 16;  // written at once
constexpr std::size_t kCountBlock = 192;       // bytes; below 256, so that one byte holds a block's count

struct Chunk {
  const char* begin = nullptr;
  const char* end = nullptr;
  CsrCounts expected;  // room it gets in the arrays
  CsrCounts parsed;
  std::uint64_t lines = 0;
  std::uint64_t first_line = 0;   // number of its first line in the file, from 1
  std::uint64_t feature_ids = 0;  // largest id + 1
  std::uint64_t label_ids = 0;
  std::uint64_t fault_line = 0;
  std::optional<RowFault> fault;
};

[[noreturn]] void fail_at(const std::string& origin, std::uint64_t line, const RowFault& fault) {
  fail_input("{}:{}:{}: {}", origin, line, fault.column, fault.message);
}

// ---- counting ----

struct TokenCounts {
  std::uint64_t lines = 0, tokens = 0, heads = 0, commas = 0;  // a head is a token at the start of its line

  void add(unsigned char before, unsigned char c) {
    lines += c == '\n';
    tokens += (before <= ' ') & (c > ' ');
    heads += (before == '\n') & (c > ' ');
    commas += c == ',';
  }
};

// Counts `bytes` <= kCountBlock bytes; text[-1] is readable. One-byte counters let the compiler use full
// vectors.
void count_block(const unsigned char* text, std::size_t bytes, TokenCounts& counts) {
  std::uint8_t lines = 0, tokens = 0, heads = 0, commas = 0;
  for (std::size_t i = 0; i < bytes; ++i) {
    const unsigned char before = text[static_cast<std::ptrdiff_t>(i) - 1], c = text[i];
    lines = static_cast<std::uint8_t>(lines + (c == '\n'));
    tokens = static_cast<std::uint8_t>(tokens + ((before <= ' ') & (c > ' ')));
    heads = static_cast<std::uint8_t>(heads + ((before == '\n') & (c > ' ')));
    commas = static_cast<std::uint8_t>(commas + (c == ','));
  }
  counts.lines += lines;
  counts.tokens += tokens;
  counts.heads += heads;
  counts.commas += commas;
}

void count_chunk(Chunk& chunk) {
  TokenCounts counts;
  const auto* text = reinterpret_cast<const unsigned char*>(chunk.begin);
  const auto bytes = static_cast<std::size_t>(chunk.end - chunk.begin);
  counts.add('\n', text[0]);
  for (std::size_t at = 1; at < bytes; at += kCountBlock) {
    count_block(text + at, std::min(kCountBlock, bytes - at), counts);
  }
  chunk.lines = counts.lines + (chunk.end[-1] != '\n');
  chunk.expected = {chunk.lines, counts.tokens - counts.heads, counts.heads + counts.commas};
}

// Cuts a part of the source into chunks of whole lines.
std::vector<Chunk> cut(const TextSource& source, std::string_view text, std::size_t chunk_bytes) {
  std::vector<Chunk> chunks;
  const auto let_go = [&](const char* begin, const char* end) { source.let_go(begin, end); };
  for (const std::string_view part : cut_lines(text, chunk_bytes, let_go)) {
    Chunk chunk;
    chunk.begin = part.data();
    chunk.end = part.data() + part.size();
    chunks.push_back(std::move(chunk));
  }
  return chunks;
}

// ---- parsing ----

// Appends rows to a chunk's room; beyond it, it only counts.
class RowAppender {
 public:
  RowAppender(Chunk& chunk, const CsrRoom& room, const CsrCounts& base)
      : chunk_(chunk), room_(room), base_(base) {}

  void append(const Row& row) {
    CsrCounts after = chunk_.parsed;
    after += {1, row.feature_count, row.labels.size()};
    const CsrCounts& room = chunk_.expected;
    if (after.rows <= room.rows && after.features <= room.features && after.labels <= room.labels) {
      store(row, after);
    }
    if (row.feature_count > 0) {
      chunk_.feature_ids = std::max<std::uint64_t>(chunk_.feature_ids, row.ids[row.feature_count - 1] + 1ULL);
    }
    if (!row.labels.empty()) {
      chunk_.label_ids = std::max<std::uint64_t>(chunk_.label_ids, row.labels.back() + 1ULL);
    }
    chunk_.parsed = after;
  }

 private:
  void store(const Row& row, const CsrCounts& after) {
    const CsrCounts& at = chunk_.parsed;
    std::copy_n(row.ids.data(), row.feature_count, room_.feature_ids + at.features);
    std::copy_n(row.values.data(), row.feature_count, room_.feature_values + at.features);
    std::copy_n(row.labels.data(), row.labels.size(), room_.label_ids + at.labels);
    room_.feature_ends[at.rows] = base_.features + after.features;
    room_.label_ends[at.rows] = base_.labels + after.labels;
  }

  Chunk& chunk_;
  CsrRoom room_;
  CsrCounts base_;
};

// One parse of a whole text.
class TextParser {
 public:
  TextParser(const TextSource& source, const RowSyntax& syntax, CsrSink& sink, int threads)
      : source_(source),
        text_end_(source.text.data() + source.text.size()),
        syntax_(syntax),
        sink_(sink),
        threads_(threads),
        rows_(static_cast<std::size_t>(threads)) {}

  // Parses all counted chunks into the sink; `extra_rows` empty rows follow. Stops early at faults.
  void run(std::vector<Chunk>& chunks, std::uint64_t extra_rows) {
    parse_all(chunks, extra_rows);
    bool exact = true;
    for (const Chunk& chunk : chunks) {
      if (chunk.fault) return;
      exact = exact && chunk.parsed == chunk.expected;
    }
    if (exact) return;
    for (Chunk& chunk : chunks) chunk.expected = std::exchange(chunk.parsed, {});
    parse_all(chunks, extra_rows);
  }

 private:
  void parse_all(std::vector<Chunk>& chunks, std::uint64_t extra_rows) {
    std::vector<CsrCounts> bases(chunks.size() + 1);
    for (std::size_t i = 0; i < chunks.size(); ++i) {
      bases[i + 1] = bases[i];
      bases[i + 1] += chunks[i].expected;
    }
    CsrCounts total = bases.back();
    total.rows += extra_rows;
    sink_.start(total, threads_);
    std::atomic<std::size_t> first_faulty = chunks.size();
    parallel_for(chunks.size(), threads_, [&](std::size_t index, int thread) {
      if (index > first_faulty.load()) return;
      parse_chunk(chunks[index], bases[index], thread);
      if (!chunks[index].fault) return;
      std::size_t seen = first_faulty.load();
      while (index < seen && !first_faulty.compare_exchange_weak(seen, index)) {
      }
    });
    append_empty_rows(bases.back(), extra_rows);
  }

  void append_empty_rows(CsrCounts at, std::uint64_t rows) {
    while (rows > 0) {
      const CsrCounts part = {std::min(rows, kEmptyRows), 0, 0};
      const CsrRoom room = sink_.open(at, part, 0);
      std::fill_n(room.feature_ends, part.rows, at.features);
      std::fill_n(room.label_ends, part.rows, at.labels);
      sink_.close(0);
      at += part;
      rows -= part.rows;
    }
  }

  void parse_chunk(Chunk& chunk, const CsrCounts& base, int thread) {
    parse_lines(chunk, base, thread);
    // What does not fit is parsed again, what is faulty never used.
    if (!chunk.fault && chunk.parsed == chunk.expected) sink_.close(thread);
    source_.let_go(chunk.begin, chunk.end);
  }

  void parse_lines(Chunk& chunk, const CsrCounts& base, int thread) {
    RowAppender appender(chunk, sink_.open(base, chunk.expected, thread), base);
    Row& row = rows_[static_cast<std::size_t>(thread)];
    std::uint64_t line = chunk.first_line;
    try {
      for (const char* at = chunk.begin; at < chunk.end; ++line) {
        const auto left = static_cast<std::size_t>(chunk.end - at);
        const auto* stop = static_cast<const char*>(std::memchr(at, '\n', left));
        if (stop == nullptr) stop = chunk.end;
        if (parse_line(at, stop, row)) appender.append(row);
        at = stop + 1;
      }
    } catch (RowFault& fault) {
      chunk.fault_line = line;
      chunk.fault = std::move(fault);
    }
  }

  // Lines at the very end of the text are copied, so that reading ahead stays inside memory.
  bool parse_line(const char* begin, const char* end, Row& row) const {
    if (static_cast<std::size_t>(text_end_ - end) > kReadAhead) return parse_row(begin, end, syntax_, row);
    std::string copy(begin, end);
    const std::size_t bytes = copy.size();
    copy.append(kReadAhead + 1, '\n');
    return parse_row(copy.data(), copy.data() + bytes, syntax_, row);
  }

  const TextSource& source_;
  const char* text_end_;
  RowSyntax syntax_;
  CsrSink& sink_;
  int threads_;
  std::vector<Row> rows_;
};

// ---- header and sizes ----

struct Header {
  std::uint64_t samples = 0, features = 0, labels = 0;
  std::size_t bytes = 0;  // of the line, with its end
};

// Reads the line `N D L`.
Header parse_header(std::string_view text, const std::string& origin) {
  constexpr const char* kWant = "the first line must be 'samples features labels', three numbers";
  const std::size_t stop = std::min(text.find('\n'), text.size());
  std::string line(text.substr(0, stop));
  const auto fail = [&](std::size_t at, const char* what) {
    fail_at(origin, 1, {at + 1, fmt::format("{}; {}", what, kWant)});
  };
  if (text.empty()) fail(0, "the file is empty");
  line.append(kReadAhead + 1, '\n');
  std::array<std::uint64_t, 3> numbers{};
  std::size_t at = 0;
  const auto skip_blanks = [&] {
    while (line[at] == ' ' || line[at] == '\t' || line[at] == '\r') ++at;
  };
  for (std::uint64_t& number : numbers) {
    skip_blanks();
    const auto end = static_cast<std::size_t>(parse_id(line.data() + at, number) - line.data());
    const bool ended = line[end] == ' ' || line[end] == '\t' || line[end] == '\r' || end == stop;
    if (end == at || !ended) fail(at, "no header");
    if (number > kIdLimit) fail(at, "a number of the header is too large");
    at = end;
  }
  skip_blanks();
  if (at < stop) fail(at, "no header");
  return {numbers[0], numbers[1], numbers[2], std::min(stop + 1, text.size())};
}

// Length of the text up to the end of its last line that is not blank.
std::size_t without_blank_end(std::string_view text) {
  const std::size_t last = text.find_last_not_of(" \t\r\n");
  if (last == std::string_view::npos) return 0;
  return std::min(text.find('\n', last), text.size() - 1) + 1;
}

std::uint64_t count_lines(std::string_view text) {
  const auto ends = static_cast<std::uint64_t>(std::count(text.begin(), text.end(), '\n'));
  return ends + (!text.empty() && text.back() != '\n' ? 1 : 0);
}

// Numbers the lines of the chunks; returns how many there are.
std::uint64_t number_lines(std::vector<Chunk>& chunks, std::uint64_t first_line) {
  std::uint64_t line = first_line;
  for (Chunk& chunk : chunks) {
    chunk.first_line = line;
    line += chunk.lines;
  }
  return line - first_line;
}

// Throws the fault that comes first in the text, or that there are more than `samples` lines.
void check_faults(const std::vector<Chunk>& chunks, const std::string& origin,
                  std::uint64_t first_surplus_line, const std::string& surplus) {
  for (const Chunk& chunk : chunks) {
    if (chunk.fault && (surplus.empty() || chunk.fault_line < first_surplus_line)) {
      fail_at(origin, chunk.fault_line, *chunk.fault);
    }
  }
  if (!surplus.empty()) fail_at(origin, first_surplus_line, {1, surplus});
}

std::uint64_t id_limit(std::uint32_t option, std::uint64_t header) {
  return option != 0 ? std::min<std::uint64_t>(option, header) : header;
}

std::vector<Chunk> cut_and_count(const TextSource& source, std::string_view body, std::size_t chunk_bytes,
                                 int threads) {
  std::vector<Chunk> chunks = cut(source, body, chunk_bytes);
  parallel_for(chunks.size(), threads, [&](std::size_t index, int) {
    count_chunk(chunks[index]);
    source.let_go(chunks[index].begin, chunks[index].end);
  });
  return chunks;
}

// Sizes from the ids alone.
CsrSizes sizes_of(const std::vector<Chunk>& chunks) {
  CsrSizes sizes;
  for (const Chunk& chunk : chunks) {
    sizes.feature_bound = std::max(sizes.feature_bound, chunk.feature_ids);
    sizes.label_bound = std::max(sizes.label_bound, chunk.label_ids);
  }
  sizes.feature_count = sizes.feature_bound;
  sizes.label_count = sizes.label_bound;
  return sizes;
}

CsrSizes parse_xmc(const TextSource& source, const ReadOptions& options, CsrSink& sink,
                   std::size_t chunk_bytes) {
  const int threads = resolve_threads(options.threads);
  const Header header = parse_header(source.text, source.origin);
  const RowSyntax syntax = {.normalize = options.normalize,
                            .feature_limit = id_limit(options.feature_limit, header.features),
                            .label_limit = id_limit(options.label_limit, header.labels)};
  const std::string_view rows = source.text.substr(header.bytes);
  const std::size_t bytes = without_blank_end(rows);
  std::vector<Chunk> chunks = cut_and_count(source, rows.substr(0, bytes), chunk_bytes, threads);
  const std::uint64_t lines = number_lines(chunks, 2), blank_lines = count_lines(rows.substr(bytes));
  const std::uint64_t missing = header.samples > lines ? header.samples - lines : 0;
  TextParser(source, syntax, sink, threads).run(chunks, std::min(missing, blank_lines));
  std::string surplus;
  if (lines > header.samples) {
    surplus = fmt::format("the header says {} samples, but the file has {}; correct the header or the file",
                          header.samples, lines);
  }
  check_faults(chunks, source.origin, 2 + header.samples, surplus);
  if (missing > blank_lines) {
    fail_at(source.origin, 2 + lines + blank_lines,
            {1, fmt::format("the file ends after {} samples, but its header says {}; it may be cut off",
                            lines + blank_lines, header.samples)});
  }
  CsrSizes sizes = sizes_of(chunks);
  sizes.feature_count = header.features;
  sizes.label_count = header.labels;
  return sizes;
}

CsrSizes parse_libsvm(const TextSource& source, const ReadOptions& options, CsrSink& sink,
                      std::size_t chunk_bytes) {
  const int threads = resolve_threads(options.threads);
  const RowSyntax syntax = {.libsvm = true,
                            .one_based = options.one_based,
                            .normalize = options.normalize,
                            .feature_limit = id_limit(options.feature_limit, kIdLimit),
                            .label_limit = id_limit(options.label_limit, kIdLimit)};
  std::vector<Chunk> chunks = cut_and_count(source, source.text, chunk_bytes, threads);
  number_lines(chunks, options.first_line);
  TextParser(source, syntax, sink, threads).run(chunks, 0);
  check_faults(chunks, source.origin, 0, "");
  const bool empty =
      std::none_of(chunks.begin(), chunks.end(), [](const Chunk& chunk) { return chunk.parsed.rows > 0; });
  if (empty) {
    fail_at(source.origin, options.first_line,
            {1, "the file is empty; write a line 'label id:value ...' for each sample"});
  }
  return sizes_of(chunks);
}

}  // namespace

CsrSizes parse_text(const TextSource& source, const ReadOptions& options, CsrSink& sink,
                    std::size_t chunk_bytes) {
  if (options.format == DataFormat::kLibsvm) return parse_libsvm(source, options, sink, chunk_bytes);
  return parse_xmc(source, options, sink, chunk_bytes);
}

Dataset parse_text(std::string_view text, const std::string& origin, const ReadOptions& options,
                   std::size_t chunk_bytes) {
  MemorySink sink;
  const CsrSizes sizes = parse_text(TextSource{text, origin}, options, sink, chunk_bytes);
  return sink.take(sizes, options);
}

}  // namespace slide
