// One truth: what a model is worth on labels that training lacks is the same by `train --test`, `test` and
// `evaluate`, of text and of features; and what thresholds promise is what `predict` gives.
#include <algorithm>
#include <cmath>
#include <set>

#include "tests/cli/cli_fixture.h"

namespace slide::test {
namespace {

// Samples of one or two of `labels`, with words or features of each.
struct Drawn {
  std::string text, svm, xmc;
};

Drawn drawn(std::size_t samples, std::uint32_t labels, std::uint32_t seed) {
  static const Strings kNames = {"music", "nature", "sport", "art", "x", "y z"};
  Drawn data;
  const auto next = [&seed](std::uint32_t below) {
    seed = seed * 1664525U + 1013904223U;
    return (seed >> 8) % below;
  };
  for (std::size_t i = 0; i < samples; ++i) {
    const std::uint32_t one = next(labels), other = next(labels);
    const std::set<std::uint32_t> carried = {one, other};
    std::string names, numbers, words;
    std::set<std::uint32_t> features;
    for (const std::uint32_t label : carried) {
      names += (names.empty() ? "" : ",") + kNames[label];
      numbers += (numbers.empty() ? "" : ",") + std::to_string(label);
      for (int w = 0; w < 3; ++w) {
        const std::uint32_t word = next(4);
        words += fmt::format(" w{}q{}", label, word);
        features.insert(label * 4 + word);
      }
    }
    std::string row = numbers;
    for (const std::uint32_t feature : features) row += fmt::format(" {}:1", feature);
    data.text += names + '\t' + words + '\n';
    data.svm += row + '\n';
  }
  data.xmc = fmt::format("{} 24 6\n", samples) + data.svm;
  return data;
}

class MeasuresTest : public CliTest {
 protected:
  void SetUp() override {
    CliTest::SetUp();
    const Drawn train = drawn(120, 4, 1), test = drawn(40, 6, 2);
    write("tr.tsv", train.text), write("te.tsv", test.text);
    write("tr.svm", train.svm), write("te.svm", test.svm);
    write("tr.xmc", fmt::format("120 24 4\n{}", train.svm)), write("te.xmc", test.xmc);
  }
  void write(const std::string& name, const std::string& text) { write_file(slide_.path(name), text); }
  Outcome run(const Strings& arguments) {
    Outcome done = slide_.run(arguments);
    EXPECT_EQ(done.code, 0) << fmt::format("{}", fmt::join(arguments, " ")) << done.err;
    return done;
  }
  Json json(Strings arguments) {
    arguments.emplace_back("--json");
    const Outcome done = run(arguments);
    return done.code == 0 ? Json::parse(done.out) : Json();
  }
  Outcome fit(const std::string& train, const std::string& test, const std::string& out) {
    Strings arguments = {"train", train, "--out", out, "--epochs", "3", "--set", "text.min_count=1"};
    if (!test.empty()) arguments.insert(arguments.end(), {"--test", test});
    return run(arguments);
  }
  static void expect_same(const Json& one, const Json& other, const std::string& what) {
    std::size_t compared = 0;
    for (const auto& [name, value] : one.items()) {
      if (name.find("_at_") == std::string::npos || !other.contains(name)) continue;
      EXPECT_NEAR(value.get<double>(), other[name].get<double>(), 1e-9) << what << ' ' << name;
      ++compared;
    }
    EXPECT_GE(compared, 7U) << what;
  }
  // What the last line of the log about test samples says.
  Json logged(const std::string& out) {
    Json last;
    for (const Json& event : events(out)) {
      if (event.contains("p_at_1")) last = event;
    }
    return last;
  }
};

// The share of true labels among the first k scores of each line of `slide predict`.
double recall_by_hand(const std::string& scores, const std::string& truth, std::size_t k) {
  std::istringstream rows(scores), samples(truth);
  double sum = 0;
  std::size_t count = 0;
  for (std::string row, sample; std::getline(samples, sample); ++count) {
    std::getline(rows, row);
    std::istringstream fields(row), names(sample.substr(0, sample.find('\t')));
    std::set<std::string> carried, found;
    for (std::string name; std::getline(names, name, ',');) carried.insert(name);
    std::string field;
    for (std::size_t i = 0; i < k && std::getline(fields, field, '\t'); ++i)
      found.insert(field.substr(0, field.rfind(':')));
    const auto hits = std::ranges::count_if(carried, [&](const auto& name) { return found.contains(name); });
    sum += static_cast<double>(hits) / static_cast<double>(carried.size());
  }
  return sum / static_cast<double>(count);
}

TEST_F(MeasuresTest, LabelsThatTrainingLacksCountAsMissedByAllDoors) {
  fit("tr.tsv", "te.tsv", "text");
  const Outcome told = slide_.run({"test", "text", "te.tsv", "--k", "1,3,5", "--json"});
  const Json tested = Json::parse(told.out);
  EXPECT_GT(tested["unknown_labels"], 10);
  EXPECT_TRUE(contains(
      told.err, fmt::format("{} labels, as often as they occur", tested["unknown_labels"].get<int>())));
  expect_same(logged("text"), tested, "train --test");
  write("s.txt", run({"predict", "text", "te.tsv"}).out);
  const Json evaluated = json({"evaluate", "s.txt", "te.tsv", "--train", "tr.tsv"});
  expect_same(tested, evaluated, "evaluate");
  EXPECT_EQ(evaluated["unknown_labels"], tested["unknown_labels"]);
  EXPECT_EQ(evaluated["unscored_labels"], tested["unknown_labels"]) << "of four labels all have scores";
  for (const std::size_t k : {1, 3, 5}) {
    EXPECT_NEAR(tested[fmt::format("recall_at_{}", k)].get<double>(),
                recall_by_hand(file("s.txt"), file("te.tsv"), k), 1e-9);
  }
  const Outcome plain = run({"evaluate", "s.txt", "te.tsv"});
  EXPECT_TRUE(contains(plain.out, fmt::format("missed are {} labels, as often as they occur",
                                              tested["unknown_labels"].get<int>())));
  // By names of the model alone, and of standard input.
  run({"convert", "tr.tsv", "o.svm", "--model", "text", "--label-names", "names.txt"});
  run({"predict", "text", "te.tsv", "--k", "4", "--out", "s.npz"});
  expect_same(tested, json({"evaluate", "s.npz", "te.tsv", "--labels", "names.txt", "--train", "tr.tsv"}),
              "evaluate of a matrix");
  expect_same(tested, json({"evaluate", "s.npz", "te.tsv", "--train", "tr.tsv"}), "by names in the matrix");
  const Outcome piped = slide_.run({"test", "text", "-", "--k", "1,3,5", "--json"}, file("te.tsv"));
  expect_same(tested, Json::parse(piped.out), "test of standard input");
  // Several files number their own labels.
  write("part1.tsv", file("te.tsv").substr(0, file("te.tsv").find('\n', 900) + 1));
  write("part2.tsv", file("te.tsv").substr(file("part1.tsv").size()));
  expect_same(tested, json({"test", "text", "part*.tsv", "--k", "1,3,5"}), "test of two files");
}

TEST_F(MeasuresTest, ATableOfLabelsNamesThem) {
  fit("tr.tsv", "", "text");
  run({"test", "text", "te.tsv", "--per-label", "labels.tsv"});
  EXPECT_TRUE(contains(file("labels.tsv"), "\ty z\t0\t"));
}

// Labels that are too rare for text.min_label_count are such, too.
TEST_F(MeasuresTest, RareLabelsCountAsMissed) {
  write("rare.tsv", file("tr.tsv") + "rare\tw0q0\n");
  run({"train", "rare.tsv", "--test", "rare.tsv", "--out", "r", "--epochs", "2", "--set", "text.min_count=1",
       "--set", "text.min_label_count=2"});
  const Json tested = json({"test", "r", "rare.tsv", "--k", "1,3,5"});
  EXPECT_EQ(tested["unknown_labels"], 1);
  expect_same(logged("r"), tested, "train --test");
  write("s.txt", run({"predict", "r", "rare.tsv"}).out);
  expect_same(tested, json({"evaluate", "s.txt", "rare.tsv"}), "evaluate");
}

// A label that training lacks has the weight of frequency 0, whether the file has a header or not.
TEST_F(MeasuresTest, TheirPropensityIsThatOfFrequencyZero) {
  std::string train;
  for (int i = 0; i < 20; ++i) train += i < 12 ? "0 1:1\n" : "1 1:1\n";
  write("a.svm", train), write("a.xmc", "20 2 9\n" + train);
  write("b.svm", "0,7 1:1\n7 1:1\n"), write("b.xmc", "2 2 9\n0,7 1:1\n7 1:1\n");
  write("s.txt", "0:1 1:0.5\n0:1 1:0.5\n");
  const double c = (std::log(20.0) - 1) * std::pow(2.5, 0.55);
  const double w0 = 1 + c * std::pow(12 + 1.5, -0.55), w7 = 1 + c * std::pow(1.5, -0.55);
  for (const std::string end : {"svm", "xmc"}) {
    const Json measures = json({"evaluate", "s.txt", "b." + end, "--train", "a." + end, "--k", "1"});
    EXPECT_NEAR(measures["psp_at_1"].get<double>(), w0 / (w7 + w7), 1e-12) << end;
    EXPECT_EQ(measures["unknown_labels"], 2) << end;
  }
  for (const std::string name : {"tr.svm", "tr.xmc"}) {
    const std::string test = "te" + name.substr(2);
    fit(name, test, "out");
    const Json tested = json({"test", "out", test, "--k", "1,3,5"});
    EXPECT_GT(tested["unknown_labels"], 10);
    expect_same(logged("out"), tested, "train --test " + name);
    run({"predict", "out", test, "--out", "s.npz"});
    expect_same(tested, json({"evaluate", "s.npz", "te.svm", "--train", "tr.svm"}), "evaluate " + name);
    std::filesystem::remove_all(slide_.path("out"));
  }
}

// Six digits make scores equal that `slide predict` ranked.
TEST_F(MeasuresTest, EqualScoresOfALineRankAsTheyStand) {
  write("t.svm", "3 1:1\n1 1:1\n"), write("s.txt", "3:1 1:1 0:0.5\n3:1 1:1 0:0.5\n");
  EXPECT_NEAR(json({"evaluate", "s.txt", "t.svm", "--k", "1"})["p_at_1"].get<double>(), 0.5, 1e-12);
  write("two.svm", "3 1:1\n3 1:1\n");
  EXPECT_NEAR(json({"evaluate", "s.txt", "two.svm", "--k", "1"})["p_at_1"].get<double>(), 1, 1e-12);
  write("f.txt", "0 3\n");
  EXPECT_NEAR(json({"evaluate", "s.txt", "two.svm", "--k", "1", "--filter", "f.txt"})["p_at_1"].get<double>(),
              0.5, 1e-12);
  EXPECT_NEAR(json({"evaluate", "s.txt", "s.txt", "t.svm", "--k", "1"})["p_at_1"].get<double>(), 0.5, 1e-12)
      << "sums by number";
}

// Labels alone, as classes and as columns.
TEST_F(MeasuresTest, TruthMayBeAnArray) {
  const auto array = [&](const std::string& type, const std::string& shape, const std::string& items) {
    std::string head = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': {}, }}", type, shape);
    head.resize(117, ' ');
    write("Y.npy", std::string("\x93NUMPY\x01\0\x76\0", 10) + head + '\n' + items);
  };
  write("s.txt", "0:1 2:0.5\n2:1\n");
  const std::string classes("\2\0\0\0\2\0\0\0", 8), columns("\0\0\1\0\0\1", 6);
  array("<i4", "(2,)", classes);
  const Json of_classes = json({"evaluate", "s.txt", "Y.npy", "--k", "1,2"});
  EXPECT_NEAR(of_classes["p_at_1"].get<double>(), 0.5, 1e-12);
  EXPECT_NEAR(of_classes["recall_at_2"].get<double>(), 1, 1e-12);
  array("|b1", "(2, 3)", columns);
  EXPECT_EQ(json({"evaluate", "s.txt", "Y.npy", "--k", "1,2"}), of_classes);
}

// ---- features that the model does not know ----

TEST_F(MeasuresTest, UnknownFeaturesAreLeftOutAndTold) {
  write("l.svm", "1 1:1\n0 2:1\n");
  run({"train", "l.svm", "--out", "l", "--epochs", "2"});
  write("u.svm", "1 9:1 1:1\n"), write("k.svm", "1 1:1\n");
  const Outcome tested = expect_done(slide_.run({"test", "l", "u.svm", "--json"}));
  EXPECT_EQ(tested.err, "slide: u.svm: unknown are 1 features, as often as they occur\n");
  EXPECT_EQ(Json::parse(tested.out)["unknown_features"], 1);
  const std::string known = run({"predict", "l", "k.svm"}).out;
  write("u.xmc", "1 10 2\n1 9:1 1:1\n");
  run({"convert", "u.svm", "X.u.npz"});
  for (const std::string data : {"u.svm", "u.xmc", "X.u.npz"}) {
    const Outcome predicted = run({"predict", "l", data});
    EXPECT_EQ(predicted.out, known) << data << ": and their length does not count";
    EXPECT_TRUE(contains(predicted.err, "unknown are 1 features, as often as they occur")) << data;
    EXPECT_EQ(json({"test", "l", data})["unknown_features"], 1) << data;
  }
  const Outcome piped = slide_.run({"predict", "l", "-"}, "1 9:1 1:1\n");
  EXPECT_EQ(piped.out, known);
  EXPECT_EQ(piped.err, "slide: standard input: unknown are 1 features, as often as they occur\n");
  // What is beyond the file's own header is a fault as before, and so is a value that is none.
  write("h.xmc", "1 5 2\n1 9:1 1:1\n"), write("v.svm", "1 9:x 1:1\n");
  EXPECT_EQ(slide_.run({"test", "l", "h.xmc"}).code, 2);
  EXPECT_TRUE(contains(slide_.run({"test", "l", "v.svm"}).err, "v.svm:1:5: the value 'x' is no number"));
  EXPECT_EQ(run({"predict", "l", "k.svm"}).err, "");
}

// ---- thresholds ----

// All pairs of a line and a label with scores from `threshold` on.
std::set<std::string> reaching(const std::string& lines, double threshold) {
  std::istringstream rows(lines);
  std::set<std::string> pairs;
  int number = 0;
  for (std::string row; std::getline(rows, row); ++number) {
    std::istringstream fields(row);
    for (std::string field; fields >> field;) {
      const std::size_t colon = field.rfind(':');
      if (std::stod(field.substr(colon + 1)) >= threshold)
        pairs.insert(fmt::format("{}/{}", number, field.substr(0, colon)));
    }
  }
  return pairs;
}

TEST_F(MeasuresTest, AThresholdAloneGivesAllLabelsAboveIt) {
  generate();
  ASSERT_EQ(train({"--set", "loss.kind=sigmoid"}).code, 0);
  const std::string all = run({"predict", "out", "data/test.txt", "--k", "60"}).out;
  for (const double threshold : {0.9, 0.5, 0.01, 0.0}) {
    const auto given = run({"predict", "out", "data/test.txt", "--threshold", std::to_string(threshold)}).out;
    EXPECT_EQ(reaching(given, 0), reaching(all, threshold)) << threshold;
    EXPECT_EQ(std::count(given.begin(), given.end(), '\n'), 70) << threshold;
  }
  EXPECT_EQ(run({"predict", "out", "data/test.txt", "--threshold", "0"}).out, all) << "best first";
  const auto three = run({"predict", "out", "data/test.txt", "--threshold", "0", "--k", "3"}).out;
  EXPECT_EQ(reaching(three, 0).size(), 3U * 70) << "with --k no more";
  const Outcome piped = slide_.run({"predict", "out", "-", "--threshold", "0"}, " 3:1 5:2\n 4:1\n");
  EXPECT_EQ(reaching(piped.out, 0).size(), 2U * 60);
  EXPECT_EQ(slide_.run({"predict", "out", "data/test.txt", "--threshold", "0", "--threads", "1"}).out, all);
}

TEST_F(MeasuresTest, ThresholdAndBestThresholdGiveTheSameF1) {
  generate();
  ASSERT_EQ(train({"--set", "loss.kind=sigmoid"}).code, 0);
  write("all.txt", run({"predict", "out", "data/test.txt", "--k", "60"}).out);
  run({"predict", "out", "data/test.txt", "--k", "60", "--out", "all.npz"});
  for (const std::string scores : {"all.txt", "all.npz"}) {
    const Json best =
        json({"evaluate", scores, "data/test.txt", "--best-threshold", scores, "data/test.txt"});
    const std::string threshold = fmt::format("{}", best["threshold"].get<double>());
    std::string given = "given.txt";
    if (scores == "all.npz") {
      given = "given.npz";
      run({"predict", "out", "data/test.txt", "--threshold", threshold, "--out", given});
    } else {
      write(given, run({"predict", "out", "data/test.txt", "--threshold", threshold}).out);
    }
    // Of what is given, every label is predicted.
    const Json measures = json({"evaluate", given, "data/test.txt", "--threshold", "-1e30"});
    for (const char* name : {"f1_micro", "f1_macro", "f1_samples"})
      EXPECT_NEAR(measures[name].get<double>(), best[name].get<double>(), 1e-12) << scores << ' ' << name;
  }
}

}  // namespace
}  // namespace slide::test
