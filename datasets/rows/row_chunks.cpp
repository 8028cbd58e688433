#include "datasets/rows/row_chunks.h"

#include <algorithm>
#include <atomic>
#include <utility>

#include "datasets/rows/line_chunks.h"
#include "datasets/rows/number_parser.h"
#include "engine/base/parallel.h"

namespace slide {

namespace {

constexpr std::uint64_t kEmptyRows = 1 << 16;  // rows written at a time
constexpr std::size_t kCountBlock = 192;       // bytes; below 256, so that a byte can hold a block's count

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

// Counts `bytes` <= kCountBlock bytes; text[-1] is readable. One-byte counters allow full vectorisation.
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

// Counts lines, and by their tokens estimates features and labels: the first token of a line has labels, one
// more than its commas; each other token is a feature.
void count_chunk(RowChunk& chunk) {
  TokenCounts counts;
  const auto* text = reinterpret_cast<const unsigned char*>(chunk.text.data());
  const std::size_t bytes = chunk.text.size();
  counts.add('\n', text[0]);
  for (std::size_t at = 1; at < bytes; at += kCountBlock) {
    count_block(text + at, std::min(kCountBlock, bytes - at), counts);
  }
  chunk.lines = counts.lines + (chunk.text.back() != '\n' ? 1 : 0);
  chunk.expected = {chunk.lines, counts.tokens - counts.heads, counts.heads + counts.commas};
}

// ---- parsing ----

// Appends rows to a chunk's space; beyond it, only counts.
class RowAppender {
 public:
  RowAppender(RowChunk& chunk, const CsrRoom& room, const CsrCounts& base)
      : chunk_(chunk), room_(room), base_(base) {}

  // Counts a row in `parsed`, and stores it while the expected counts leave room. Where they are wrong, the
  // counts of this pass serve a second one.
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

  RowChunk& chunk_;
  CsrRoom room_;
  CsrCounts base_;
};

// One parse of a whole text.
class TextParser {
 public:
  TextParser(const TextSource& source, const RowSyntax& syntax, OnFault on_fault, CsrSink& sink, int threads)
      : source_(source),
        text_end_(source.text.data() + source.text.size()),
        syntax_(syntax),
        on_fault_(on_fault),
        sink_(sink),
        threads_(threads),
        rows_(static_cast<std::size_t>(threads)) {}

  // Parses all counted chunks into the sink, followed by `extra_rows` empty rows. Stops early at errors.
  // Parses a second time, with exact counts, where counts were estimates.
  void run(std::vector<RowChunk>& chunks, std::uint64_t extra_rows) {
    parse_all(chunks, extra_rows);
    bool exact = true;
    for (const RowChunk& chunk : chunks) {
      if (stopped(chunk)) return;
      exact = exact && chunk.parsed == chunk.expected;
    }
    if (exact) return;
    for (RowChunk& chunk : chunks) chunk.expected = std::exchange(chunk.parsed, {});
    parse_all(chunks, extra_rows);
  }

 private:
  // A chunk fills the range of the sink behind the expected counts of the chunks before it. Chunks after the
  // first faulty one are skipped.
  void parse_all(std::vector<RowChunk>& chunks, std::uint64_t extra_rows) {
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
      if (!stopped(chunks[index])) return;
      std::size_t seen = first_faulty.load();
      while (index < seen && !first_faulty.compare_exchange_weak(seen, index)) {
      }
    });
    append_empty_rows(bases.back(), extra_rows);
  }

  // Adds rows without entries behind `at`: their ends are those of the row before.
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

  void parse_chunk(RowChunk& chunk, const CsrCounts& base, int thread) {
    parse_lines(chunk, base, thread);
    // A chunk that does not fit is parsed again; a malformed chunk is not used.
    if (!stopped(chunk) && chunk.parsed == chunk.expected) sink_.close(thread);
    source_.release_pages(chunk.text.data(), chunk.text.data() + chunk.text.size());
  }

  // Parses the lines of a chunk into its range of the sink. Malformed lines stop the chunk, become empty rows
  // or are skipped, by on_fault_.
  void parse_lines(RowChunk& chunk, const CsrCounts& base, int thread) {
    RowAppender appender(chunk, sink_.open(base, chunk.expected, thread), base);
    Row& row = rows_[static_cast<std::size_t>(thread)];
    std::uint64_t line = chunk.first_line;
    chunk.bad = chunk.unknown = 0;
    chunk.faults.clear();
    chunk.emptied.clear();
    for (std::string_view rest = chunk.text; !rest.empty(); ++line) {
      const std::size_t end = std::min(rest.find('\n'), rest.size());
      try {
        if (parse_line(rest.data(), rest.data() + end, row)) {
          appender.append(row);
          chunk.unknown += row.unknown;
        }
      } catch (RowFault& fault) {
        add_fault(chunk, {line, std::move(fault)});
        if (on_fault_ == OnFault::kStop) return;
        if (on_fault_ == OnFault::kEmpty) empty_row(chunk, appender, row);
      }
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
  }

  static void add_fault(RowChunk& chunk, PlacedFault fault) {
    ++chunk.bad;
    if (chunk.faults.size() < ReadReport::kShown) chunk.faults.push_back(std::move(fault));
  }

  static void empty_row(RowChunk& chunk, RowAppender& appender, Row& row) {
    chunk.emptied.push_back(chunk.parsed.rows);
    row.labels.clear();
    row.feature_count = 0;
    appender.append(row);
  }

  bool stopped(const RowChunk& chunk) const { return on_fault_ == OnFault::kStop && chunk.bad > 0; }

  // Lines at the very end of the text are copied, so that reading ahead stays within memory.
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
  OnFault on_fault_;
  CsrSink& sink_;
  int threads_;
  std::vector<Row> rows_;
};

}  // namespace

// Cuts the lines into chunks and counts their rows and tokens in parallel.
std::vector<RowChunk> cut_rows(const TextSource& source, std::string_view lines, std::uint64_t first_line,
                               std::size_t chunk_bytes, int threads) {
  std::vector<RowChunk> chunks;
  const auto release_pages = [&](const char* begin, const char* end) { source.release_pages(begin, end); };
  for (const std::string_view text : cut_lines(lines, chunk_bytes, release_pages))
    chunks.emplace_back().text = text;
  parallel_for(chunks.size(), threads, [&](std::size_t index, int) {
    const std::string_view text = chunks[index].text;
    count_chunk(chunks[index]);
    source.release_pages(text.data(), text.data() + text.size());
  });
  for (RowChunk& chunk : chunks) {
    chunk.first_line = first_line;
    first_line += chunk.lines;
  }
  return chunks;
}

std::uint64_t lines_of(const std::vector<RowChunk>& chunks) {
  std::uint64_t lines = 0;
  for (const RowChunk& chunk : chunks) lines += chunk.lines;
  return lines;
}

std::uint64_t unknown_of(const std::vector<RowChunk>& chunks) {
  std::uint64_t unknown = 0;
  for (const RowChunk& chunk : chunks) unknown += chunk.unknown;
  return unknown;
}

void parse_rows(const TextSource& source, const RowSyntax& syntax, OnFault on_fault,
                std::vector<RowChunk>& chunks, std::uint64_t extra_rows, CsrSink& sink, int threads) {
  TextParser(source, syntax, on_fault, sink, threads).run(chunks, extra_rows);
}

CsrSizes sizes_of(const std::vector<RowChunk>& chunks) {
  CsrSizes sizes;
  for (const RowChunk& chunk : chunks) {
    sizes.feature_bound = std::max(sizes.feature_bound, chunk.feature_ids);
    sizes.label_bound = std::max(sizes.label_bound, chunk.label_ids);
  }
  sizes.feature_count = sizes.feature_bound;
  sizes.label_count = sizes.label_bound;
  return sizes;
}

}  // namespace slide
