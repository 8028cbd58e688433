// Tests of `slide evaluate`, and of its agreement with `slide test` and `slide predict`.
#include "tests/cli/cli_fixture.h"

namespace slide::test {
namespace {

class EvaluateTest : public CliTest {
 protected:
  Outcome evaluate(std::vector<std::string> arguments, const std::string& input = "") {
    arguments.insert(arguments.begin(), "evaluate");
    return slide_.run(arguments, input);
  }
  // The command's JSON output.
  Json measures(std::vector<std::string> arguments, const std::string& input = "") {
    arguments.emplace_back("--json");
    const Outcome done = expect_done(evaluate(std::move(arguments), input));
    return done.code == 0 ? Json::parse(done.out) : Json();
  }
  // Expects exit code 2 and this message.
  void refuses(const std::string& message, std::vector<std::string> arguments) {
    const Outcome done = evaluate(std::move(arguments));
    EXPECT_EQ(done.code, 2) << done.out;
    EXPECT_EQ(done.err, "slide: " + message + "\n");
  }
  void write(const std::string& name, const std::string& text) { write_file(slide_.path(name), text); }
};

// Three samples and four labels.
constexpr const char* kThreeSamples = "3 2 4\n0,1 0:1\n2 1:1\n1 0:1\n";
constexpr const char* kTheirScores = "1:0.9 3:0.4\n0:0.8 2:0.5\n\n";

TEST_F(EvaluateTest, MeasuresTextByHand) {
  write("data.txt", kThreeSamples);
  write("scores.txt", kTheirScores);
  const Json json = measures({"scores.txt", "data.txt", "--k", "1,2,1", "--threshold", "0.5"});
  EXPECT_EQ(json["samples"], 3);
  EXPECT_EQ(json["labels"], 4);
  EXPECT_NEAR(json["p_at_1"], 1.0 / 3, 1e-12);
  EXPECT_NEAR(json["p_at_2"], 1.0 / 3, 1e-12);
  EXPECT_NEAR(json["recall_at_2"], 0.5, 1e-12);
  EXPECT_NEAR(json["coverage_at_2"], 2.0 / 3, 1e-12);
  EXPECT_NEAR(json["catalogue_at_1"], 0.5, 1e-12);
  EXPECT_NEAR(json["f1_micro"], 4.0 / 7, 1e-12);
  EXPECT_FALSE(json.contains("psp_at_1"));
  EXPECT_EQ(measures({"-", "data.txt", "--k", "1,2", "--threshold", "0.5"}, kTheirScores), json);
  const Outcome told = evaluate({"scores.txt", "data.txt"});
  EXPECT_EQ(told.out.find("3 samples, 4 labels, of which samples carry 3\n"), 0U) << told.out;
}

TEST_F(EvaluateTest, LeavesPairsOutAndTellsOfEachLabel) {
  write("data.txt", kThreeSamples);
  write("scores.txt", kTheirScores);
  write("filter.txt", "1 0\n0 0\n");
  const Json json =
      measures({"scores.txt", "data.txt", "--k", "1", "--filter", "filter.txt", "--per-label", "labels.tsv"});
  EXPECT_NEAR(json["p_at_1"], 2.0 / 3, 1e-12);
  EXPECT_NEAR(json["recall_at_1"], 2.0 / 3, 1e-12);
  EXPECT_EQ(file("labels.tsv"),
            "label\tpositives\tpredicted_at_1\thits_at_1\tprecision_at_1\trecall_at_1\tf1_at_1\n"
            "0\t0\t0\t0\t0\t0\t0\n"
            "1\t2\t1\t1\t1\t0.5\t0.666667\n"
            "2\t1\t1\t1\t1\t1\t1\n"
            "3\t0\t0\t0\t0\t0\t0\n");
  no_temporaries(".");
}

TEST_F(EvaluateTest, KnowsLabelsByName) {
  write("data.tsv", "red,old wine\tsome words here\nred\tother words\n");
  write("names.txt", "old wine\nred\nblue\n");
  write("scores.txt", "old wine:0.5\tblue:0.25\nred:1\n");
  const Json by_data = measures({"scores.txt", "data.tsv", "--k", "1"});
  EXPECT_NEAR(by_data["p_at_1"], 1.0, 1e-12);
  EXPECT_NEAR(by_data["recall_at_1"], 0.75, 1e-12);
  const Json by_file =
      measures({"scores.txt", "data.tsv", "--k", "1", "--labels", "names.txt", "--per-label", "labels.tsv"});
  EXPECT_EQ(by_file["recall_at_1"], by_data["recall_at_1"]);
  EXPECT_TRUE(contains(file("labels.tsv"), "\n0\told wine\t1\t1\t1\t"));
  write("scores.txt", "green:0.5\n\n");
  refuses("scores.txt:1:1: the label 'green' is not among the names of labels",
          {"scores.txt", "data.tsv", "--labels", "names.txt"});
}

TEST_F(EvaluateTest, AveragesComparesAndFindsTheThreshold) {
  write("data.txt", kThreeSamples);
  write("one.txt", "1:1\n0:1\n3:1\n");
  write("two.txt", "1:1\n2:1 0:0.5\n1:1\n");
  EXPECT_NEAR(measures({"one.txt", "two.txt", "data.txt", "--k", "1", "--weights", "1,3"})["p_at_1"], 1.0,
              1e-12);
  EXPECT_NEAR(measures({"one.txt", "two.txt", "data.txt", "--k", "1", "--weights", "3,1"})["p_at_1"], 1.0 / 3,
              1e-12);
  const Json json = measures({"one.txt", "data.txt", "--k", "1", "--compare", "two.txt", "--bootstrap", "50",
                              "--best-threshold", "two.txt", "data.txt"});
  EXPECT_EQ(json["threshold"], 0.75);
  EXPECT_NEAR(json["validation_f1_micro"], 6.0 / 7, 1e-12);
  EXPECT_NEAR(json["compare"]["p_at_1"]["difference"], -2.0 / 3, 1e-12);
  EXPECT_GT(json["compare"]["p_at_1"]["p_value"], 0.1);
  EXPECT_EQ(json["intervals"].size(), 5U);
  EXPECT_EQ(json, measures({"one.txt", "data.txt", "--k", "1", "--compare", "two.txt", "--bootstrap", "50",
                            "--best-threshold", "two.txt", "data.txt", "--threads", "1"}));
}

TEST_F(EvaluateTest, FaultsAreOneLine) {
  write("data.txt", kThreeSamples);
  const auto with = [&](const std::string& scores) {
    write("scores.txt", scores);
    return std::vector<std::string>{"scores.txt", "data.txt"};
  };
  refuses("scores.txt: 2 rows of scores for 3 samples; they must be of the same samples", with("1:1\n1:1\n"));
  refuses("scores.txt: 5 rows of scores for 3 samples; they must be of the same samples",
          with("\n\n\n\n1:1"));
  refuses("scores.txt:2:5: label 4 is out of range; there are 4 labels, counted from 0",
          with("\n0:1 4:1\n\n"));
  refuses("scores.txt:1:3: 'nan' is no finite score", with("1:nan\n\n\n"));
  refuses("scores.txt:3:1: the label '1' is there twice", with("\n\n1:1 2:1 1:0\n"));
  refuses("scores.txt:1:1: 'x' is no label:score", with("x\n\n\n"));
  refuses("scores.txt:1:1: 'red' is no number of a label; --labels gives names", with("red:1\n\n\n"));
  write("filter.txt", "0 1\n3 1\n");
  const std::vector<std::string> good = with("\n\n\n");
  refuses("filter.txt:2:1: sample 3 is out of range; there are 3, counted from 0",
          {good[0], good[1], "--filter", "filter.txt"});
  refuses("--weights gives 2 for 1 files of scores; give one for each",
          {good[0], good[1], "--weights", "1,2"});
  EXPECT_EQ(evaluate({"scores.txt"}).code, 2);
  EXPECT_EQ(evaluate({"scores.txt", "data.txt", "--propensity", "0.5,1"}).code,
            2);  // requires training labels
  EXPECT_EQ(evaluate({"missing.npz", "data.txt"}).code, 2);
}

TEST_F(EvaluateTest, AgreesWithTestOnScoresThatPredictWrites) {
  train_model();
  const Outcome written = expect_done(slide_.run({"predict", "out/model.slide", "data/test.txt", "--k", "60",
                                                  "--scores", "logit", "--out", "scores.npz"}));
  EXPECT_EQ(written.out, "");
  write("filter.txt", "0 3\n5 7\n5 8\n69 59\n");
  const Outcome tested =
      expect_done(slide_.run({"test", "out/model.slide", "data/test.txt", "--json", "--k", "1,5", "--filter",
                              "filter.txt", "--per-label", "test.tsv", "--propensity", "0.5,0.4"}));
  const Json json = Json::parse(tested.out);
  const Json evaluated =
      measures({"scores.npz", "data/test.txt", "--k", "1,5", "--filter", "filter.txt", "--per-label",
                "evaluate.tsv", "--train", "data/train.txt", "--propensity", "0.5,0.4"});
  for (const char* name : {"p_at_1", "ndcg_at_5", "psp_at_5", "psndcg_at_5", "recall_at_5", "coverage_at_5"})
    EXPECT_NEAR(json[name], evaluated[name], 1e-12) << name;
  EXPECT_EQ(file("test.tsv"), file("evaluate.tsv"));
  EXPECT_EQ(slide_.run({"predict", "out/model.slide", "data/test.txt", "--out", "scores.txt"}).code, 2);
  EXPECT_EQ(slide_.run({"predict", "out/model.slide", "data/test.txt", "--out", "none/scores.npz"}).code, 2);
}

TEST_F(EvaluateTest, PredictPrintsJson) {
  train_model();
  const Outcome lines = slide_.run({"predict", "out/model.slide", "data/test.txt", "--k", "2"});
  const Outcome objects =
      expect_done(slide_.run({"predict", "out/model.slide", "data/test.txt", "--k", "2", "--json"}));
  std::string text;
  for (const Json& object : events_of(objects.out)) {
    for (std::size_t i = 0; i < object["predictions"].size(); ++i) {
      const Json& one = object["predictions"][i];
      text += fmt::format("{}{}:{:.6g}", i == 0 ? "" : " ", one["id"].get<int>(), one["score"].get<double>());
    }
    text += '\n';
  }
  EXPECT_EQ(text, lines.out);
  EXPECT_EQ(slide_.run({"predict", "out/model.slide", "data/test.txt", "--json", "--out", "s.npz"}).code, 2);
}

TEST_F(EvaluateTest, TestReadsStandardInputAndTellsIntervals) {
  train_model();
  const auto test = [&](const std::string& data, const std::string& input) {
    const Outcome done =
        expect_done(slide_.run({"test", "out/model.slide", data, "--json", "--bootstrap", "20"}, input));
    Json json = Json::parse(done.out);
    json.erase("seconds");
    return json;
  };
  const Json from_file = test("data/test.txt", "");
  EXPECT_EQ(test("-", file("data/test.txt")), from_file);
  EXPECT_EQ(from_file["intervals"]["p_at_1"].size(), 2U);
  const Outcome bad = slide_.run({"test", "out/model.slide", "-"}, "1 2 3\n1 x:1\n");
  EXPECT_EQ(bad.code, 2);
  EXPECT_EQ(bad.err.find("slide: standard input:2:"), 0U) << bad.err;
}

// By hand: precision, recall and F1 of the best k and at thresholds, the curve, and the files.
TEST_F(EvaluateTest, DecidesByRankAndThreshold) {
  write("data.txt", kThreeSamples);
  write("scores.txt", kTheirScores);
  const Json json = measures({"scores.txt", "data.txt", "--k", "1", "--threshold", "0.5", "--curve",
                              "curve.csv", "--report", "report.html", "--per-label", "labels.tsv"});
  EXPECT_NEAR(json["precision_micro"], 2.0 / 3, 1e-12);
  EXPECT_NEAR(json["recall_micro"], 2.0 / 4, 1e-12);
  EXPECT_NEAR(json["precision_macro"], (0 + 1.0 + 1.0) / 3, 1e-12);  // of labels 0, 1, 2
  EXPECT_NEAR(json["precision_samples"], (1.0 + 0.5 + 0) / 3, 1e-12);
  EXPECT_NEAR(json["recall_micro_at_1"], 1.0 / 4, 1e-12);
  EXPECT_EQ(file("curve.csv"),
            "threshold,precision,recall,f1,predicted,hits\n0.9,1,0.25,0.4,1,1\n0.8,0.5,0.25,0.333333,2,1\n"
            "0.5,0.666667,0.5,0.571429,3,2\n0.4,0.5,0.5,0.5,4,2\n");
  EXPECT_TRUE(contains(file("report.html"), "\"points\":[{\"threshold\":0.9"));
  EXPECT_EQ(file("labels.tsv")
                .find("label\tpositives\tpredicted_at_1\thits_at_1\tprecision_at_1\trecall_at_1\t"
                      "f1_at_1\tthreshold\tpredicted\thits\tprecision\trecall\tf1\n"),
            0U);
  EXPECT_TRUE(contains(file("labels.tsv"), "\n1\t2\t1\t1\t1\t0.5\t0.666667\t0.5\t1\t1\t1\t0.5\t0.666667\n"));
  EXPECT_NEAR(json["reliability"]["error"], (0.1 + 0.4 + 0.8 + 0.5) / 4, 1e-6);
  EXPECT_FALSE(measures({"-", "data.txt"}, "1:9\n\n\n").contains("reliability"));
}

TEST_F(EvaluateTest, FindsThresholdsForAPrecisionAndForLabels) {
  write("data.txt", kThreeSamples);
  write("scores.txt", kTheirScores);
  EXPECT_EQ(measures({"scores.txt", "data.txt", "--min-precision", "0.9"})["threshold"], 0.85);
  // No threshold gives the precision: it is clearly above all scores, which may be rounded differently.
  write("wrong.txt", "0:0.2 3:0.9\n0:0.8\n\n");
  const Json none = measures({"wrong.txt", "data.txt", "--min-precision", "0.9"});
  EXPECT_EQ(none["recall_micro"], 0.0);
  EXPECT_NEAR(none["threshold"], 1.01 * 0.9, 1e-6);
  const Json json =
      measures({"scores.txt", "data.txt", "--label-thresholds", "1", "--save-thresholds", "t.json"});
  EXPECT_EQ(json["threshold"], 0.45);
  EXPECT_EQ(json["label_thresholds"], 3);
  const std::string shown = evaluate({"scores.txt", "data.txt", "--label-thresholds", "1"}).out;
  EXPECT_TRUE(contains(shown, "label thresholds   micro"));
  EXPECT_TRUE(contains(shown, "3 labels have thresholds of their own, the others 0.45"));
  const Json written = Json::parse(file("t.json"));
  EXPECT_EQ(written["threshold"], 0.45);
  EXPECT_EQ(written["labels"][1], (Json{{"id", 1}, {"threshold", 0.45}}));
  EXPECT_EQ(measures({"scores.txt", "data.txt", "--threshold", "t.json"})["f1_micro"], json["f1_micro"]);
  refuses("t.json: --save-thresholds and --curve name one file; give them two",
          {"scores.txt", "data.txt", "--save-thresholds", "t.json", "--curve", "t.json"});
  EXPECT_EQ(evaluate({"scores.txt", "data.txt", "--threshold", "nan"}).code, 2);
  EXPECT_EQ(evaluate({"scores.txt", "data.txt", "--threshold", "0.5", "--save-thresholds", "t.json"}).code,
            2);
}

// Scores of a model on tables and other forms of data, which --model says how to read.
TEST_F(EvaluateTest, ReadsDataAsTheModelDoes) {
  std::string csv = "id,body,kinds\n", jsonl;
  for (int i = 0; i < 24; ++i) {
    const bool music = i % 2 == 0;
    const std::string body = music ? "violin and cello" : "birds and trees";
    const std::string kinds = i % 6 == 0 ? "music;nature" : music ? "music" : "nature";
    csv += fmt::format("{},{},{}\n", i, body, kinds);
    jsonl += fmt::format("{{\"body\":\"{}\",\"kinds\":\"{}\"}}\n", body, kinds);
  }
  write("train.csv", csv);
  write("test.jsonl", jsonl);
  ASSERT_EQ(slide_
                .run({"train", "train.csv", "--set", "data.text=body", "data.labels=kinds",
                      "data.label_separator=;", "text.min_count=1", "--epochs", "1", "--quiet", "--out", "m"})
                .code,
            0);
  for (const char* data : {"train.csv", "test.jsonl"}) {
    const Outcome scores = expect_done(slide_.run({"predict", "m", data, "--k", "2"}));
    write("scores.txt", scores.out);
    const Outcome tested = expect_done(slide_.run({"test", "m", data, "--k", "1,2", "--json"}));
    const Json json = measures({"scores.txt", data, "--model", "m", "--k", "1,2"});
    for (const char* name : {"p_at_1", "p_at_2", "ndcg_at_2", "recall_at_1"})
      EXPECT_NEAR(json[name], Json::parse(tested.out)[name], 1e-9) << data << ' ' << name;
  }
}

TEST_F(EvaluateTest, ThresholdsThatMeanNothing) {
  write("data.txt", kThreeSamples);
  write("scores.txt", kTheirScores);
  const Outcome none = expect_done(evaluate({"scores.txt", "data.txt", "--threshold", "30"}));
  const std::string warning =
      "scores.txt: no score reaches --threshold 30, so that no label is given; the highest is 0.9";
  EXPECT_TRUE(none.err.starts_with("slide: warning: " + warning)) << none.err;
  expect_refused(evaluate({"scores.txt", "data.txt", "--threshold", "30", "--strict"}), warning);
  EXPECT_EQ(evaluate({"scores.txt", "data.txt", "--threshold", "0.9"}).err, "");
  expect_refused(evaluate({"scores.txt", "data.txt", "--threshold", "0,3"}),
                 "'0,3' is neither a finite number");
  for (const char* option : {"--min-precision", "--label-thresholds", "--bootstrap"})
    expect_refused(evaluate({"scores.txt", "data.txt", option, "0,3"}), "'0,3' is no ");
  expect_refused(slide_.run({"test", "out", "data.txt", "--rare", "0,3"}), "'0,3' is no ");
}

TEST_F(EvaluateTest, SaysWhatTheWantedPrecisionHoldsFor) {
  write("data.txt", kThreeSamples);
  write("scores.txt", kTheirScores);
  const std::string said = "precision 0.9 holds for each of these labels alone";
  const auto with = [&](const char* option, const char* value) {
    return evaluate({"scores.txt", "data.txt", "--label-thresholds", "1", option, value}).out;
  };
  EXPECT_TRUE(contains(with("--min-precision", "0.9"), said));
  EXPECT_FALSE(contains(with("--k", "1"), "holds for"));
}

}  // namespace
}  // namespace slide::test
