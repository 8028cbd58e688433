// Tests of event files for TensorBoard, by a reader of their own.
#include "engine/run/event_file.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <vector>

#include "engine/base/error.h"
#include "engine/run/run_log.h"
#include "tests/files.h"

namespace slide {
namespace {

namespace fs = std::filesystem;

// --- The reader: bit by bit after the definitions of CRC-32C, TFRecord and protocol buffers

std::uint32_t slow_crc(const std::string& bytes) {
  std::uint32_t crc = 0xffffffffU;
  for (const char byte : bytes) {
    crc ^= static_cast<unsigned char>(byte);
    for (int bit = 0; bit < 8; ++bit) crc = (crc & 1) != 0 ? (crc >> 1) ^ 0x82f63b78U : crc >> 1;
  }
  return crc ^ 0xffffffffU;
}

template <class T>
T take(std::string& bytes) {
  T value{};
  if (bytes.size() < sizeof(T)) throw std::out_of_range("cut off");
  std::memcpy(&value, bytes.data(), sizeof(T));  // little-endian, as all machines of the tests
  bytes.erase(0, sizeof(T));
  return value;
}

std::string take_text(std::string& bytes, std::size_t size) {
  if (bytes.size() < size) throw std::out_of_range("cut off");
  std::string text = bytes.substr(0, size);
  bytes.erase(0, size);
  return text;
}

std::uint64_t take_varint(std::string& bytes) {
  std::uint64_t value = 0;
  for (int shift = 0;; shift += 7) {
    const auto byte = take<unsigned char>(bytes);
    value |= std::uint64_t{byte & 0x7fU} << shift;
    if (byte < 0x80) return value;
  }
}

void take_sum(std::string& bytes, const std::string& of) {
  const std::uint32_t crc = slow_crc(of);
  EXPECT_EQ(take<std::uint32_t>(bytes), ((crc >> 15) | (crc << 17)) + 0xa282ead8U);
}

struct Event {
  double time = 0.0;
  std::uint64_t step = 0;
  std::string version;
  std::map<std::string, float> scalars;
};

std::pair<std::string, float> scalar_of(std::string value) {
  EXPECT_EQ(take_varint(value), 0x0aU);  // field 1, text
  std::string tag = take_text(value, take_varint(value));
  EXPECT_EQ(take_varint(value), 0x15U);  // field 2, four bytes
  return {std::move(tag), take<float>(value)};
}

Event event_of(std::string message) {
  Event event;
  while (!message.empty()) {
    switch (take_varint(message)) {
      case 0x09:
        event.time = take<double>(message);
        break;
      case 0x10:
        event.step = take_varint(message);
        break;
      case 0x1a:
        event.version = take_text(message, take_varint(message));
        break;
      case 0x2a: {
        std::string summary = take_text(message, take_varint(message));
        while (!summary.empty()) {
          EXPECT_EQ(take_varint(summary), 0x0aU);
          event.scalars.insert(scalar_of(take_text(summary, take_varint(summary))));
        }
        break;
      }
      default:
        ADD_FAILURE() << "another field";
        return event;
    }
  }
  return event;
}

std::vector<Event> events_of(const std::string& path) {
  std::vector<Event> events;
  for (std::string bytes = read_file(path); !bytes.empty();) {
    std::string head = bytes.substr(0, 8);
    const auto length = take<std::uint64_t>(bytes);
    take_sum(bytes, head);
    const std::string message = take_text(bytes, length);
    take_sum(bytes, message);
    events.push_back(event_of(message));
  }
  return events;
}

// --- The tests

using EventFileTest = FolderTest;

TEST_F(EventFileTest, SumsAreThoseOfTheDefinition) {
  EXPECT_EQ(crc_32c("123456789"), 0xe3069283U);            // the check value of CRC-32C
  EXPECT_EQ(crc_32c(std::string(32, '\0')), 0x8a9136aaU);  // RFC 3720, B.4
  EXPECT_EQ(crc_32c(std::string(32, '\xff')), 0x62a8ab43U);
}

TEST_F(EventFileTest, IsReadAsItWasWritten) {
  EventFile file(path("events"), 0);
  const EventFile::Scalar scalars[] = {{"train/loss", 0.25}, {"a name of \xc3\xa4", -1e30}};
  file.add(1.5e9, 300, scalars);
  file.add(1.5e9 + 1, std::int64_t{1} << 40, std::span(scalars, 1));
  const auto events = events_of(path("events"));
  ASSERT_EQ(events.size(), 3U);
  EXPECT_EQ(events[0].version, "brain.Event:2");
  EXPECT_EQ(events[1].time, 1.5e9);
  EXPECT_EQ(events[1].step, 300U);
  EXPECT_EQ(events[1].scalars.at("train/loss"), 0.25F);
  EXPECT_EQ(events[1].scalars.at("a name of \xc3\xa4"), -1e30F);
  EXPECT_EQ(events[2].step, std::uint64_t{1} << 40);
  EXPECT_EQ(events[2].scalars.size(), 1U);
}

TEST_F(EventFileTest, ContinuesBehindWhatIsWhole) {
  const EventFile::Scalar scalars[] = {{"x", 1.0}};
  {
    EventFile file(path("events"), 0);
    for (int step = 1; step <= 3; ++step) file.add(step, step, scalars);
  }
  EXPECT_EQ(EventFile(path("events"), 9).kept(), 3U);
  EXPECT_EQ(EventFile(path("events"), 2).kept(), 2U);
  EXPECT_EQ(events_of(path("events")).size(), 3U);
  fs::resize_file(path("events"), fs::file_size(path("events")) - 1);  // a kill while writing
  EXPECT_EQ(EventFile(path("events"), 9).kept(), 1U);
  EXPECT_EQ(events_of(path("events")).back().step, 1U);
  std::ofstream(path("events")) << "something else, of more than one record's length";
  EXPECT_EQ(EventFile(path("events"), 9).kept(), 0U);
  EXPECT_EQ(events_of(path("events")).size(), 1U);
  EXPECT_THROW(EventFile(path("no/folder"), 0), Error);
}

EpochReport epoch(std::uint32_t number) {
  EpochReport report;
  report.epoch = number;
  report.samples = 100 * number;
  report.loss = 1.0 / number;
  report.sources = ActiveSources{.labels = 2.5};
  return report;
}

TEST_F(EventFileTest, FollowsTheLogOfARunAndOfItsResumption) {
  std::uint64_t kept = 0;
  {
    RunLog log(path("metrics.jsonl"), {1});
    log.also_write_events(path("events"));
    log.write_warning("no number over the course of a run");
    log.write(epoch(1));
    kept = log.sync();
    log.write(epoch(2));
  }
  auto events = events_of(path("events"));
  ASSERT_EQ(events.size(), 3U);
  EXPECT_EQ(events[1].step, 100U);
  EXPECT_EQ(events[2].scalars.at("train/loss"), 0.5F);
  EXPECT_EQ(events[2].scalars.at("train/active_by_source/labels"), 2.5F);
  EXPECT_FALSE(events[2].scalars.contains("train/step"));
  {
    RunLog log(path("metrics.jsonl"), {1}, kept);  // the checkpoint was made after the first epoch
    log.also_write_events(path("events"));
    EXPECT_EQ(events_of(path("events")).size(), 2U);
    log.write(epoch(2));
    log.write(epoch(3));
  }
  events = events_of(path("events"));
  ASSERT_EQ(events.size(), 4U);
  EXPECT_EQ(events[3].step, 300U);
  fs::remove(path("events"));
  RunLog log(path("metrics.jsonl"), {1}, fs::file_size(path("metrics.jsonl")));
  log.also_write_events(path("events"));
  EXPECT_EQ(events_of(path("events")).size(), 4U);
}

}  // namespace
}  // namespace slide
