#include "datasets/rows/json_record.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "datasets/rows/row_parser.h"
#include "engine/base/foreign_text.h"

namespace slide {

namespace {

using Json = nlohmann::json;

// SAX listener that keeps the wanted values. Its functions return whether to continue.
class Listener : public Json::json_sax_t {
 public:
  // A value of the current column, as text.
  virtual bool value(std::string_view text) = 0;

  bool null() override { return in_object() && value({}); }
  bool boolean(bool truth) override { return in_object() && value(truth ? "true" : "false"); }
  bool number_integer(number_integer_t number) override {
    return in_object() && value(fmt::format("{}", number));
  }
  bool number_unsigned(number_unsigned_t number) override {
    return in_object() && value(fmt::format("{}", number));
  }
  bool number_float(number_float_t, const string_t& text) override { return in_object() && value(text); }
  bool string(string_t& text) override { return in_object() && value(text); }
  bool binary(binary_t&) override { return false; }
  bool start_object(std::size_t) override { return ++depth_ == 1 || allow_object(); }
  bool end_object() override { return --depth_, true; }
  bool start_array(std::size_t) override { return in_object() && ++depth_ > 0 && start_list(); }
  bool end_array() override { return --depth_, true; }
  bool key(string_t& name) override {
    if (depth_ == 1) column(name);
    return true;
  }
  bool parse_error(std::size_t position, const std::string&, const Json::exception& error) override {
    const std::string_view what = error.what();
    const std::size_t reason = what.rfind("; ");
    const std::string_view why = reason == std::string_view::npos ? what : what.substr(reason + 2);
    return fail(position, fmt::format("this is no JSON object on one line ({})", why));
  }

  const RowFault& fault() const { return fault_; }

 protected:
  virtual void column(const std::string& name) = 0;
  virtual bool allow_object() { return true; }
  virtual bool start_list() { return true; }
  int depth() const { return depth_; }
  bool fail(std::size_t column, std::string message) {
    fault_ = {std::max<std::size_t>(column, 1), std::move(message)};
    return false;
  }

 private:
  // Whether the current value is inside an object; else records a fault.
  bool in_object() {
    return depth_ > 0 || fail(1, "this is no JSON object; write {\"COLUMN\": VALUE, ...} on each line");
  }

  int depth_ = 0;
  RowFault fault_{1, "this is no JSON object on one line"};
};

const std::string kWholeObjects =
    "write each object on a line of its own (jq -c . FILE, or jq -c '.NAME[]' FILE where NAME is a list of "
    "them)";

class RecordListener : public Listener {
 public:
  RecordListener(const RecordColumns& columns, JsonRecord& record)
      : columns_(columns),
        texts_(columns.texts),
        record_(record),
        single_{Single{columns.weight, &record.weight, false}, Single{columns.group, &record.group, false},
                Single{columns.time, &record.time, false}} {
    record.texts.assign(texts_.size(), {});
    record.has_text.assign(texts_.size(), false);
    clear_labels();
    record.dense.clear();
    for (const Single& single : single_) single.value->clear();
  }

  bool number_integer(number_integer_t number) override {
    return is_dense_ ? add_number(static_cast<double>(number)) : Listener::number_integer(number);
  }
  bool number_unsigned(number_unsigned_t number) override {
    return is_dense_ ? add_number(static_cast<double>(number)) : Listener::number_unsigned(number);
  }
  bool number_float(number_float_t number, const string_t& text) override {
    return is_dense_ ? add_number(number) : Listener::number_float(number, text);
  }
  // Takes a value of the column that column() has named last; a list calls it for each element.
  bool value(std::string_view text) override {
    if (is_dense_) return fail_dense();
    if (text_ < texts_.size()) {
      std::string& all = record_.texts[text_];
      if (!all.empty() && !text.empty()) all += ' ';
      all += text;
    }
    if (is_labels_ && (record_.labels_are_list || !text.empty())) record_.labels.emplace_back(text);
    for (const Single& single : single_) {
      if (single.is_read) *single.value = text;
    }
    return true;
  }

 private:
  void clear_labels() {
    record_.labels.clear();
    record_.labels_are_list = false;
  }
  bool fail_dense() {
    return fail(1, fmt::format("the column '{}' holds something else than a list of numbers", name_));
  }
  bool add_number(double number) {
    if (depth() != 2) return fail_dense();
    if (!(std::fabs(number) <= double{std::numeric_limits<float>::max()}))
      return fail(1, fmt::format("the column '{}' has a number that is too large for a float", name_));
    record_.dense.push_back(static_cast<float>(number));
    return true;
  }
  void column(const std::string& name) override {
    name_ = name;
    text_ = static_cast<std::size_t>(std::ranges::find(texts_, name) - texts_.begin());
    is_labels_ = !columns_.labels.empty() && name == columns_.labels;
    for (Single& single : single_) single.is_read = !single.column.empty() && name == single.column;
    is_dense_ = !columns_.dense.empty() && name == columns_.dense;
    if (is_labels_) clear_labels();  // for repeated names, the last one counts
    if (is_dense_) record_.dense.clear();
    if (text_ == texts_.size()) return;
    record_.texts[text_].clear();
    record_.has_text[text_] = true;
  }
  bool allow_object() override {
    if (is_dense_) return fail_dense();
    return (text_ == texts_.size() && !is_labels_ && !reads_single()) ||
           fail(1, fmt::format("the column '{}' holds an object; want a string or a list of strings", name_));
  }
  bool start_list() override {
    if (is_dense_) return depth() == 2 || fail_dense();
    if (is_labels_) record_.labels_are_list = true;
    if ((is_labels_ && depth() > 2) || reads_single())
      return fail(1,
                  fmt::format("the column '{}' holds a list within a list, or in place of one value", name_));
    return true;
  }

  // A column with a single value, and whether it is being read.
  struct Single {
    std::string_view column;
    std::string* value;
    bool is_read;
  };
  bool reads_single() const { return std::ranges::any_of(single_, &Single::is_read); }

  const RecordColumns& columns_;
  const std::vector<std::string>& texts_;
  JsonRecord& record_;
  std::array<Single, 3> single_;
  std::string name_;  // current column, and its role:
  std::size_t text_ = static_cast<std::size_t>(-1);
  bool is_labels_ = false, is_dense_ = false;
};

class NameListener : public Listener {
 public:
  bool value(std::string_view) override { return true; }
  std::vector<std::string> names;

 private:
  void column(const std::string& name) override { names.push_back(name); }
};

class VectorListener : public Listener {
 public:
  bool number_integer(number_integer_t) override { return add(true); }
  bool number_unsigned(number_unsigned_t) override { return add(true); }
  bool number_float(number_float_t, const string_t&) override { return add(false); }
  bool value(std::string_view) override { return end(); }
  std::vector<JsonVector> vectors;

 private:
  void column(const std::string& name) override {
    end();
    name_ = name;
  }
  bool allow_object() override { return end(); }
  bool start_list() override { return depth() == 2 ? start() : end(); }
  bool start() {
    vectors.push_back({name_, 0, true});
    return open_ = true;
  }
  bool add(bool whole) {
    if (!open_ || depth() != 2) return end();
    ++vectors.back().length;
    vectors.back().whole = vectors.back().whole && whole;
    return true;
  }
  // Ends the current list. Drops it where it is not finished: the column holds something else than a list of
  // numbers.
  bool end() {
    if (open_ && depth() != 1) vectors.pop_back();
    open_ = false;
    return true;
  }

  std::string name_;
  bool open_ = false;  // the last of `vectors` may go on
};

// The message for a line that is not JSON because of a NaN or an Infinity, as Python writes them; else "".
std::string not_finite(std::string_view line, std::size_t column) {
  for (const std::string_view word : {"NaN", "Infinity"}) {
    if (column > 0 && column <= line.size() && line.substr(column - 1).starts_with(word))
      return fmt::format("{} is no number in JSON; write finite numbers", word);
  }
  return {};
}

}  // namespace

// Parses by callbacks (RecordListener), without a tree of values, and makes faults readable.
void parse_json_record(std::string_view line, const RecordColumns& columns, JsonRecord& record) {
  if (const auto fault = foreign_json_fault(line)) throw RowFault{fault->byte, fault->what};
  RecordListener listener(columns, record);
  if (Json::sax_parse(line.begin(), line.end(), &listener)) return;
  const RowFault& fault = listener.fault();
  if (std::string message = not_finite(line, fault.column); !message.empty())
    throw RowFault{fault.column, std::move(message)};
  const bool cut_off = fault.column > line.size();
  throw RowFault{fault.column, cut_off ? fault.message + "; " + kWholeObjects : fault.message};
}

std::string json_form_fault(std::string_view line) {
  return Json::accept(line.begin(), line.end()) ? std::string() : "JSON on several lines; " + kWholeObjects;
}

std::vector<std::string> json_columns(std::string_view line) {
  NameListener listener;
  Json::sax_parse(line.begin(), line.end(), &listener);
  return std::move(listener.names);
}

std::vector<JsonVector> json_vectors(std::string_view line) {
  VectorListener listener;
  if (foreign_json_fault(line) || !Json::sax_parse(line.begin(), line.end(), &listener)) return {};
  return std::move(listener.vectors);
}

}  // namespace slide
