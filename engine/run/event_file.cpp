#include "engine/run/event_file.h"

#include <array>
#include <bit>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>

#include "engine/base/byte_io.h"
#include "engine/base/error.h"

namespace slide {

namespace {

constexpr std::size_t kLengthBytes = 8, kSumBytes = 4;

// Remainder of each byte by the polynomial of CRC-32C, its bits in reverse order.
constexpr std::array<std::uint32_t, 256> castagnoli_table() {
  constexpr std::uint32_t kPolynomial = 0x82f63b78;
  std::array<std::uint32_t, 256> table{};
  for (std::uint32_t byte = 0; byte < 256; ++byte) {
    std::uint32_t rest = byte;
    for (int bit = 0; bit < 8; ++bit) rest = (rest >> 1) ^ ((rest & 1) != 0 ? kPolynomial : 0U);
    table[byte] = rest;
  }
  return table;
}

// TFRecord's form of a checksum, which is no checksum of bytes that hold one.
std::uint32_t masked_sum(std::string_view bytes) {
  return std::rotr(crc_32c(bytes), 15) + 0xa282ead8U;
}

template <class T>
void put_bytes(std::string& to, T value) {
  to += bytes_of(std::span(&value, 1));
}

std::uint64_t number_at(std::string_view bytes, std::size_t at, std::size_t size) {
  std::uint64_t number = 0;
  for (std::size_t i = 0; i < size; ++i)
    number |= std::uint64_t{static_cast<unsigned char>(bytes[at + i])} << (8 * i);
  return number;
}

// Types of the fields of protocol buffers.
enum class Wire : std::uint64_t { kVarint = 0, kEightBytes = 1, kLengthAndBytes = 2, kFourBytes = 5 };

void put_varint(std::string& to, std::uint64_t value) {
  for (; value >= 0x80; value >>= 7) to += static_cast<char>((value & 0x7f) | 0x80);
  to += static_cast<char>(value);
}

void put_key(std::string& to, std::uint64_t field, Wire wire) {
  put_varint(to, 8 * field + static_cast<std::uint64_t>(wire));
}

void put_text(std::string& to, std::uint64_t field, std::string_view text) {
  put_key(to, field, Wire::kLengthAndBytes);
  put_varint(to, text.size());
  to += text;
}

// Fields of the messages, tensorflow/core/util/event.proto and framework/summary.proto.
constexpr std::uint64_t kEventTime = 1, kEventStep = 2, kEventVersion = 3, kEventSummary = 5;
constexpr std::uint64_t kSummaryValue = 1, kValueTag = 1, kValueNumber = 2;

std::string event_of(double time, std::int64_t step) {
  std::string event;
  put_key(event, kEventTime, Wire::kEightBytes);
  put_bytes(event, std::bit_cast<std::uint64_t>(time));
  put_key(event, kEventStep, Wire::kVarint);
  put_varint(event, static_cast<std::uint64_t>(step));
  return event;
}

std::string record_of(std::string_view event) {
  std::string record;
  put_bytes(record, std::uint64_t{event.size()});
  put_bytes(record, masked_sum(record));
  record += event;
  put_bytes(record, masked_sum(event));
  return record;
}

// Where the first `limit` records of a file end, as far as they are whole; counts them.
std::size_t end_of_records(std::string_view bytes, std::size_t limit, std::size_t& count) {
  constexpr std::size_t kHead = kLengthBytes + kSumBytes;
  std::size_t at = 0;
  for (count = 0; count < limit && bytes.size() - at >= kHead; ++count) {
    const std::string_view head = bytes.substr(at, kLengthBytes);
    if (number_at(bytes, at + kLengthBytes, kSumBytes) != masked_sum(head)) break;
    const std::uint64_t length = number_at(head, 0, kLengthBytes);
    const std::size_t rest = bytes.size() - at - kHead;
    if (rest < kSumBytes || length > rest - kSumBytes) break;
    const std::string_view event = bytes.substr(at + kHead, length);
    if (number_at(bytes, at + kHead + length, kSumBytes) != masked_sum(event)) break;
    at += kHead + length + kSumBytes;
  }
  return at;
}

[[noreturn]] void fail_events(const std::string& path, const std::string& why) {
  fail_run("{}: cannot be written ({}); check the folder, its permissions and the space on its disk", path,
           why);
}

}  // namespace

std::uint32_t crc_32c(std::string_view bytes) {
  static constexpr auto kTable = castagnoli_table();
  std::uint32_t crc = ~0U;
  for (const char byte : bytes) crc = (crc >> 8) ^ kTable[(crc ^ static_cast<unsigned char>(byte)) & 0xff];
  return ~crc;
}

// Continues a file after its first `kept` events and cuts off the rest; else begins one with its version.
EventFile::EventFile(std::string path, std::size_t kept) : path_(std::move(path)) {
  std::ifstream before(path_, std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(before)), {});
  std::size_t records = 0;
  const std::size_t end = end_of_records(bytes, kept + 1, records);  // the first record holds the version
  file_.reset(std::fopen(path_.c_str(), records > 0 ? "ae" : "we"));
  if (!file_) fail_events(path_, std::strerror(errno));
  if (records > 0) {
    kept_ = records - 1;
    std::error_code error;
    if (end < bytes.size()) std::filesystem::resize_file(path_, end, error);
    if (error) fail_events(path_, error.message());
    return;
  }
  std::string version = event_of(static_cast<double>(std::time(nullptr)), 0);
  put_text(version, kEventVersion, "brain.Event:2");
  append(version);
}

// Encodes an event with its summary; field numbers as in event_file.h.
void EventFile::add(double time, std::int64_t step, std::span<const Scalar> scalars) {
  std::string summary;
  for (const auto& [tag, number] : scalars) {
    std::string value;
    put_text(value, kValueTag, tag);
    put_key(value, kValueNumber, Wire::kFourBytes);
    put_bytes(value, std::bit_cast<std::uint32_t>(static_cast<float>(number)));
    put_text(summary, kSummaryValue, value);
  }
  std::string event = event_of(time, step);
  put_text(event, kEventSummary, summary);
  append(event);
}

void EventFile::append(std::string_view event) {
  const std::string record = record_of(event);
  if (std::fwrite(record.data(), 1, record.size(), file_.get()) != record.size() ||
      std::fflush(file_.get()) != 0)
    fail_events(path_, std::strerror(errno));
}

}  // namespace slide
