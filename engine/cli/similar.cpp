// `slide similar`: the items, labels, features or words most similar to given ones.
#include <unistd.h>

#include <array>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <numeric>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "datasets/rows/labelled_line.h"
#include "engine/base/atomic_file.h"
#include "engine/base/error.h"
#include "engine/base/input_file.h"
#include "engine/base/number_text.h"
#include "engine/cli/commands.h"
#include "engine/cli/inspect_json.h"
#include "engine/cli/line_source.h"
#include "engine/cli/options.h"
#include "engine/cli/text.h"
#include "engine/model/model_file.h"
#include "engine/model/output_files.h"
#include "engine/run/item_titles.h"
#include "engine/run/similar.h"

namespace slide::cli {

namespace {

constexpr std::size_t kItemsAtOnce = 4096;                   // items answered together
constexpr std::size_t kManyItems = 4096;                     // as many pay for rounding the vectors
constexpr std::size_t kMaxWords = 16;                        // of a name that the shell took apart
constexpr std::size_t kMaxNameBytes = std::size_t{1} << 20;  // of an item

struct SimilarCommand {
  std::string model;
  std::vector<std::string> items;  // "-": names on standard input
  std::string of = "labels";
  std::uint32_t k = 10;
  int threads = 0;
  std::string titles;  // file of titles to print beside labels, or empty
  std::string out;     // file in place of standard output, or empty
  bool all = false;
  bool exact = false;
  bool json = false;
};

// The next line of standard input, without its end; false at its end. Throws InputError for one that is
// longer than any name.
bool take_name(std::string& name) {
  name.clear();
  for (int c = std::cin.get(); c != std::char_traits<char>::eof(); c = std::cin.get()) {
    if (c == '\n') {
      if (name.ends_with('\r')) name.pop_back();
      return true;
    }
    if (name.size() == kMaxNameBytes)
      fail_input("-: a line of standard input has more than 1 MB, which no name has; give a name a line");
    name += static_cast<char>(c);
  }
  return !name.empty();
}

// A name without blanks and quotes around it; two quotes inside become one, as in CSV.
std::string without_quotes(std::string_view name) {
  name = trimmed(name);
  if (name.size() < 2 || name.front() != '"' || name.back() != '"') return std::string(name);
  name = name.substr(1, name.size() - 2);
  std::string plain;
  for (std::size_t i = 0; i < name.size(); ++i) {
    plain += name[i];
    if (name.substr(i).starts_with("\"\"")) ++i;
  }
  return plain;
}

std::optional<std::uint32_t> find_name(const SimilarNames& names, const std::string& name) {
  const auto id = names.find(name);
  return id ? id : names.find(without_quotes(name));
}

// Names of standard input that the model lacks.
class UnknownNames {
 public:
  void add(const std::string& name, std::uint64_t line, const SimilarNames& names) {
    if (count_++ < kMaxSuggested)
      lines_.push_back(fmt::format("{}:{}: {}", kStandardInput, line, names.fault_of(without_quotes(name))));
  }
  // Warns, or throws InputError where none of the names was `known`.
  void end(bool known) const {
    if (count_ > 0 && !known) fail_input("{}", lines_.front());
    for (const std::string& line : lines_) print_notes({"warning: " + line});
    if (count_ > lines_.size())
      print_notes({fmt::format("warning: {}: {} names in all are not in the model and have no answer",
                               kStandardInput, count_)});
  }

 private:
  std::vector<std::string> lines_;
  std::size_t count_ = 0;
};

// Appends to `ids` the ids of the names on standard input that the model has, and reports the unknown names.
void take_names(const SimilarNames& names, std::vector<std::uint32_t>& ids) {
  refuse_endless(STDIN_FILENO, kStandardInput);
  UnknownNames unknown;
  std::uint64_t number = 0;
  for (std::string line; take_name(line);) {
    ++number;
    if (trimmed(line).empty()) continue;
    if (const auto id = find_name(names, line)) {
      ids.push_back(*id);
    } else {
      unknown.add(line, number, names);
    }
  }
  unknown.end(!ids.empty());
}

// Throws for an unknown name. Where it is a known one together with the words behind it, asks for quotes.
[[noreturn]] void fail_unknown(const std::vector<std::string>& items, std::size_t at,
                               const SimilarNames& names) {
  std::string joined = items[at];
  for (std::size_t i = at + 1; i < std::min(items.size(), at + kMaxWords); ++i) {
    joined += ' ' + items[i];
    if (names.find(joined))
      fail_input("{}; put quotes around a name with blanks: '{}'", names.fault_of(items[at], false), joined);
  }
  fail_input("{}", names.fault_of(without_quotes(items[at])));
}

// Ids of --all, of the named items, and of names on standard input for `-`.
std::vector<std::uint32_t> ids_asked(const SimilarCommand& command, const SimilarNames& names,
                                     std::size_t size) {
  std::vector<std::uint32_t> ids;
  if (command.all) {
    ids.resize(size);
    std::iota(ids.begin(), ids.end(), 0U);
  }
  for (std::size_t i = 0; i < command.items.size(); ++i) {
    const std::string& item = command.items[i];
    if (item == "-") {
      take_names(names, ids);
      continue;
    }
    const auto id = find_name(names, item);
    if (!id) fail_unknown(command.items, i, names);
    ids.push_back(*id);
  }
  return ids;
}

void append_rows(const std::string& item, const std::vector<Related>& found, const SimilarNames& names,
                 const ItemTitles* titles, std::string& text) {
  for (const Related& other : found) {
    std::array<char, kNumberRoom> number;
    const char* const end = write_six_digits(other.score, number.data());
    text += fmt::format("{}\t{}\t{}", item, names.name_of(other.id),
                        std::string_view(number.data(), static_cast<std::size_t>(end - number.data())));
    if (titles != nullptr) text.append("\t").append((*titles)[other.id]);
    text += '\n';
  }
}

void append_json(const std::string& item, const std::vector<Related>& found, const SimilarNames& names,
                 const ItemTitles* titles, std::string& text) {
  nlohmann::ordered_json similar = nlohmann::ordered_json::array();
  for (const Related& other : found) {
    nlohmann::ordered_json one = {{"id", other.id}};
    if (names.named()) one["label"] = one["name"] = names.name_of(other.id);
    one["score"] = one["cosine"] = other.score;  // the names that slide predict and POST /similar have, too
    if (titles != nullptr) one["title"] = (*titles)[other.id];
    similar.push_back(std::move(one));
  }
  const nlohmann::ordered_json line = {{"item", item}, {"similar", similar}};
  text += line.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + '\n';
}

// Items that nothing is similar to, since all their weights are 0.
class ItemsWithoutVector {
 public:
  void add(const std::string& name) {
    if (count_++ == 0) first_ = name;
  }
  // Warns where there are any.
  void end() const {
    if (count_ == 0) return;
    const std::string others = count_ == 1 ? "" : fmt::format(" and {} more", count_ - 1);
    print_notes({fmt::format("warning: nothing is similar to '{}'{}: all weights are 0", first_, others)});
  }

 private:
  std::string first_;
  std::size_t count_ = 0;
};

// Searches the most similar labels or features, kItemsAtOnce items at a time, which bounds memory. Many items
// use rounded rows unless --exact.
void run_similar(const SimilarCommand& command) {
  if (command.items.empty() == !command.all)
    fail_input("similar: give ITEMs, or - for names on standard input, or --all for each of them");
  if (!command.titles.empty() && command.of != "labels")
    fail_input("similar: --titles is for labels; leave it out with --of features");
  check_outputs(std::array{OutputFile{"--out", command.out}}, std::array{command.model, command.titles});
  const Model model = load_model(command.model);
  print_notes(model.notes);
  const SimilarOf of = command.of == "labels" ? SimilarOf::kLabels : SimilarOf::kFeatures;
  const SimilarNames names(model, of);
  std::optional<ItemTitles> titles;
  if (!command.titles.empty()) titles.emplace(model, command.titles);
  if (titles && !titles->note().empty()) print_notes({titles->note()});
  if (titles && !titles->warning().empty()) print_notes({"warning: " + titles->warning()});
  const std::size_t size = of == SimilarOf::kLabels ? model.shape.labels : model.network.sample_features();
  const std::vector<std::uint32_t> ids = ids_asked(command, names, size);
  SimilarRows rows(model, of, command.threads);
  if (!command.exact && ids.size() >= kManyItems) rows.round_rows(command.threads);
  std::optional<AtomicFile> file;
  if (!command.out.empty()) file.emplace(command.out);
  ItemsWithoutVector without_vector;
  for (std::size_t first = 0; first < ids.size(); first += kItemsAtOnce) {
    const auto begin = ids.begin() + static_cast<std::ptrdiff_t>(first);
    const std::vector<std::uint32_t> some(
        begin, begin + static_cast<std::ptrdiff_t>(std::min(kItemsAtOnce, ids.size() - first)));
    const auto found = rows.search(some, command.k, command.threads);
    std::string text;
    for (std::size_t i = 0; i < some.size(); ++i) {
      if (found[i].empty() && size > 1) without_vector.add(names.name_of(some[i]));
      (command.json ? append_json : append_rows)(names.name_of(some[i]), found[i], names,
                                                 titles ? &*titles : nullptr, text);
    }
    file ? file->write(text) : print_text(text);
  }
  if (file) file->finish();
  without_vector.end();
}

}  // namespace

void add_similar(CLI::App& app, Action& action) {
  CLI::App* sub =
      app.add_subcommand("similar", "Print the items, labels or words most similar to given ones");
  sub->footer(
      "By the cosine of their vectors, as slide vectors writes them. A line each: item, similar item, "
      "cosine,\n"
      "with TABs between, best first. Items are labels; --of features compares what samples are made of:\n"
      "words, and of interactions items as input. --json: "
      "{\"item\":...,\"similar\":[{\"id\":...,\"label\":...,\n"
      "\"score\":...}]}, as POST /similar of slide serve; 'name' and 'cosine' are the same again.");
  const auto command = std::make_shared<SimilarCommand>();
  sub->add_option("MODEL", command->model, "Folder of a run, or a model file")->required();
  sub->add_option("ITEM", command->items,
                  "Names, or numbers where there are no names; - reads lines of standard input")
      ->expected(0, 100000)
      ->option_text("ITEM...");
  sub->add_option("--of", command->of, "What to compare")
      ->check(CLI::IsMember({"labels", "features"}))
      ->capture_default_str()
      ->type_name("labels|features");
  sub->add_flag("--all", command->all, "Each item of the model, in the order of its numbers");
  sub->add_option("--k", command->k, "Similar ones of each")
      ->transform(whole(1, kMaxK))
      ->capture_default_str()
      ->type_name("K");
  sub->add_flag("--exact", command->exact, "Compare all vectors in full, also those that 8 bits tell apart");
  const auto take_file = [command](const std::string& name) {
    command->out = name;
    command->json |= name.ends_with(".jsonl");
  };
  sub->add_option_function<std::string>("--out", take_file, "Write to this file, and print nothing")
      ->check(CLI::Validator(
          [](const std::string& name) {
            const bool known = name.ends_with(".tsv") || name.ends_with(".jsonl");
            return known ? std::string() : fmt::format("'{}' must end in .tsv or .jsonl", name);
          },
          ""))
      ->type_name("FILE.tsv|.jsonl");
  sub->add_flag("--json", command->json, "Print a JSON object for each item");
  add_titles(*sub, command->titles);
  add_threads(*sub, command->threads);
  sub->callback([command, &action] { action = [command] { run_similar(*command); }; });
}

}  // namespace slide::cli
