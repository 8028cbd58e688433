// Tests of POST /predict from outside: answers and refusals.
#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "tests/serve/serve_fixture.h"

namespace slide::test {
namespace {

class PredictApiTest : public ServeTest {};

TEST_F(PredictApiTest, AnswersWhatPredictPrints) {
  for (const std::string model : {"ids", "softmax", "scaled"}) {
    for (const std::string inference : {"full", "lsh"}) {
      for (const std::string scores : {"probability", "logit"}) {
        ServerProcess server = serve(model, {"--inference", inference, "--threads", "2"});
        std::istringstream expected(run({"predict", model + "/model.slide", "data/test.txt", "--k", "4",
                                         "--inference", inference, "--scores", scores})
                                        .out);
        Client client = server.client();
        Json all = {{"inputs", Json::array()}, {"k", 4}, {"scores", scores}};
        for (const std::string& line : lines()) all["inputs"].push_back({{"features", features_of(line)}});
        const Json together = client.predict(all).json();
        std::size_t sample = 0;
        for (std::string line; std::getline(expected, line); ++sample) {
          const Answer answer =
              client.predict({{"features", all["inputs"][sample]["features"]}, {"k", 4}, {"scores", scores}});
          ASSERT_EQ(answer.code, 200u) << answer.body;
          EXPECT_EQ(answer.json()["model"], together["model"]);
          expect_same(answer.json()["predictions"], line, ' ', "id");
          expect_same(together["results"].at(sample)["predictions"], line, ' ', "id");
        }
        EXPECT_EQ(sample, together["results"].size());
        EXPECT_EQ(server.stop(), 0) << server.errors();
      }
    }
  }
}

TEST_F(PredictApiTest, ValuesOfOneFeatureAddUpInBothForms) {
  ServerProcess server = serve("ids");
  Client client = server.client();
  const auto predictions = [&](const std::string& features) {
    const Answer answer = client.ask("POST", "/predict", "{\"features\": " + features + "}");
    EXPECT_EQ(answer.code, 200u) << answer.body;
    return answer.json()["predictions"];
  };
  const Json expected = predictions(R"({"3": 3, "7": 1})");
  EXPECT_EQ(predictions(R"({"3": 1, "7": 1, "3": 2})"), expected);
  EXPECT_EQ(predictions(R"({"3": 1, "7": 1, "03": 2})"), expected);
  EXPECT_EQ(predictions(R"([[3, 1], 7, [3, 2]])"), expected);
  for (const char* body :
       {R"({"features": {"3": 1}, "k": 1, "k": 2})", R"({"features": {"3": 1}, "features": {"4": 1}})",
        R"({"inputs": [{"features": {"3": 1}, "features": {"4": 1}}]})"})
    EXPECT_EQ(client.ask("POST", "/predict", body).code, 400u) << body;
}

TEST_F(PredictApiTest, AnswersTextWithNames) {
  ServerProcess server = serve("text", {"--k", "2"});
  Client client = server.client();
  for (const auto& [label, text] : kText) {
    const Answer answer = client.predict({{"text", text}});
    ASSERT_EQ(answer.code, 200u) << answer.body;
    EXPECT_EQ(answer.type, "application/json");
    ASSERT_EQ(answer.json()["predictions"].size(), 2u);
    EXPECT_EQ(answer.json()["predictions"][0]["label"], label);
    expect_same(answer.json()["predictions"],
                run({"predict", "text/model.slide", "-", "--k", "2"}, std::string(text) + "\n").out, '\t',
                "label");
    // Equal to a list of strings.
    EXPECT_EQ(client.predict(Json::array({text})).json()["results"][0]["predictions"][0]["label"], label);
  }
  const Answer none = client.predict({{"text", "a choir"}, {"threshold", 150}, {"scores", "logit"}});
  EXPECT_EQ(none.json()["predictions"], Json::array());
  EXPECT_EQ(client.predict({{"inputs", Json::array()}}).json()["results"], Json::array());
  // Pipelined requests are answered in order.
  client.send(Client::text_of("POST", "/predict", R"({"text": "bread"})") +
              Client::text_of("GET", "/health", ""));
  EXPECT_EQ(client.receive().json()["predictions"][0]["label"], "cooking");
  EXPECT_EQ(client.receive().json()["status"], "ready");
  const Answer health = client.ask("GET", "/health?now");
  EXPECT_EQ(health.json()["input"], "text");
  EXPECT_EQ(health.json()["labels"], 4);
  EXPECT_EQ(client.ask("HEAD", "/nothing").code, 404u)
      << "no body follows, else the next answer would be lost";
}

// A label's own words contribute to it; predictions equal those without "explain".
TEST_F(PredictApiTest, TellsWhatSpokeForALabel) {
  ServerProcess server = serve("text", {"--k", "2"});
  Client client = server.client();
  const Json plain = client.predict({{"text", "bread from the oven"}}).json();
  Json told = client.predict({{"text", "bread from the oven"}, {"explain", 3}}).json();
  const std::string lines = run({"predict", "text/model.slide", "-", "--k", "2", "--json", "--explain", "3"},
                                "bread from the oven\n")
                                .out;
  EXPECT_EQ(Json::parse(lines)["predictions"], told["predictions"]);
  const Json because = told["predictions"][0]["because"];
  EXPECT_EQ(told["predictions"][0]["label"], "cooking");
  ASSERT_FALSE(because.empty());
  EXPECT_LE(because.size(), 3u);
  double last = INFINITY;
  for (const Json& reason : because) {
    const std::string words = "bread from the oven", word = reason["feature"];
    EXPECT_TRUE(contains(words, word.substr(0, word.find(' ')))) << word;
    EXPECT_GT(reason["part"].get<double>(), 0.0);
    EXPECT_LE(reason["part"].get<double>(), last);
    last = reason["part"];
  }
  for (Json& prediction : told["predictions"]) prediction.erase("because");
  EXPECT_EQ(told, plain);
  // Unnamed features by their ids, in a list of inputs, and for a sample without features.
  ServerProcess numbers = serve("ids", {"--k", "3"});
  const Json both = {{"inputs", {{{"features", {{"3", 1.0}, {"7", 0.5}}}}, {{"features", Json::object()}}}},
                     {"explain", 9}};
  const Json results = numbers.client().predict(both).json()["results"];
  std::size_t named = 0;
  for (const Json& prediction : results.at(0)["predictions"]) {
    for (const Json& reason : prediction["because"]) {
      EXPECT_FALSE(reason.contains("feature"));
      EXPECT_TRUE(reason["id"] == 3 || reason["id"] == 7) << reason;
      ++named;
    }
  }
  EXPECT_GT(named, 0u);
  EXPECT_EQ(results.at(1)["predictions"][0]["because"], Json::array());
}

TEST_F(PredictApiTest, HasAPageThatNeedsNothingElse) {
  ServerProcess server = serve("text", {});
  const Answer page = server.client().ask("GET", "/?input=bread");
  EXPECT_EQ(page.code, 200u);
  EXPECT_EQ(page.type, "text/html; charset=utf-8");
  EXPECT_TRUE(page.body.starts_with("<!DOCTYPE html>"));
  for (const char* elsewhere : {"http:", "https:", "src=", "@import", "url("})
    EXPECT_FALSE(contains(page.body, elsewhere));
  EXPECT_EQ(server.client().ask("POST", "/", "{}").code, 405u);
}

TEST_F(PredictApiTest, AnswersRowsOfNumbers) {
  constexpr std::size_t kColumns = 6, kRows = 20;
  run({"generate", "--dense", "6", "--samples", "300", "--test-samples", "20", "--labels", "9", "--features",
       "50", "--out", "rows"});
  run({"train", "rows/X.train.npy", "--set", "train.epochs=2", "--quiet", "--out", "dense"});
  std::istringstream expected(run({"predict", "dense/model.slide", "rows/X.test.npy", "--k", "3"}).out);
  const std::string file = read_file(slide_->path("rows/X.test.npy"));
  std::vector<float> numbers(kRows * kColumns);
  std::memcpy(numbers.data(), file.data() + file.size() - numbers.size() * sizeof(float),
              numbers.size() * sizeof(float));
  ServerProcess server = serve("dense", {});
  Client client = server.client();
  for (std::size_t i = 0; i < kRows; ++i) {
    Json row = Json::array(), named = Json::object();
    for (std::size_t c = 0; c < kColumns; ++c) {
      row.push_back(numbers[i * kColumns + c]);
      named[std::to_string(c)] = numbers[i * kColumns + c];
    }
    std::string line;
    ASSERT_TRUE(std::getline(expected, line));
    for (const Json& features : {row, named}) {
      const Answer answer = client.predict({{"features", features}, {"k", 3}});
      ASSERT_EQ(answer.code, 200u) << answer.body;
      expect_same(answer.json()["predictions"], line, ' ', "id");
    }
  }
  const Answer few = client.predict({{"features", {0.5, 1}}});
  EXPECT_EQ(few.code, 400u);
  EXPECT_TRUE(contains(few.body, "features are 2 numbers, but the model has 6 dense columns"));
}

// The lines of a table with a text and, in the column of this name, numbers that tell the labels.
std::string lines_with_numbers(const std::string& column) {
  std::string lines;
  for (int i = 0; i < 40; ++i) {
    std::vector<double> numbers(4, 0.25);
    numbers[static_cast<std::size_t>(i % 4)] = 2;
    lines +=
        Json({{"text", kText[i % 8][1]}, {"labels", {kText[i % 4][0]}}, {column, numbers}}).dump() + "\n";
  }
  return lines;
}

TEST_F(PredictApiTest, AnswersTextsWithNumbersBesideThem) {
  for (const std::string column : {"embedding", "features", "k"}) {
    const std::string lines = lines_with_numbers(column), key = column == "k" ? "vector" : column;
    write_file(slide_->path(column + ".jsonl"), lines);
    run({"train", "c.toml", "--set", "data.train=" + column + ".jsonl", "--set", "data.text=text", "--set",
         "data.labels=labels", "--set", "text.min_count=1", "--out", column});
    std::istringstream expected(run({"predict", column, column + ".jsonl", "--k", "3"}).out), given(lines);
    ServerProcess server = serve(column, {});
    Client client = server.client();
    Json all = {{"inputs", Json::array()}, {"k", 3}};
    Strings answers;
    for (std::string line, answer; std::getline(given, line) && std::getline(expected, answer);) {
      const Json sample = Json::parse(line);
      const Json input = {{"text", sample["text"]}, {key, sample[column]}};
      all["inputs"].push_back(input);
      answers.push_back(answer);
      Json body = input;
      body["k"] = 3;
      const Answer alone = client.predict(body);
      ASSERT_EQ(alone.code, 200u) << alone.body;
      expect_same(alone.json()["predictions"], answer, '\t', "label");
    }
    const Answer together = client.predict(all);
    ASSERT_EQ(together.code, 200u) << together.body;
    ASSERT_EQ(answers.size(), 40u);
    for (std::size_t i = 0; i < answers.size(); ++i)
      expect_same(together.json()["results"].at(i)["predictions"], answers[i], '\t', "label");
    const std::pair<Json, std::string> bad[] = {
        {{{"text", "roses"}}, "give \\\"" + key + "\\\" beside \\\"text\\\", a list of 4 numbers"},
        {{{"text", "roses"}, {key, {0.5, 1}}}, "a list of 4 numbers"},
        {{{"text", "roses"}, {key, {0.5, 1, "x", 2}}}, "is a list of numbers that fit a float"},
        {{{"text", "roses"}, {key, {0.5, 1, 1e300, 2}}}, "is a list of numbers that fit a float"},
        {{{"inputs", {"roses"}}}, "inputs[0]: give"}};
    for (const auto& [body, what] : bad) {
      const Answer refused = client.predict(body);
      EXPECT_EQ(refused.code, 400u) << body << refused.body;
      EXPECT_TRUE(contains(refused.body, what));
    }
    EXPECT_EQ(client.predict({{"text", "roses"}, {"", {1, 2, 3, 4}}}).code, 400u);
  }
  ServerProcess server = serve("text", {});
  EXPECT_EQ(server.client().predict({{"text", "roses"}, {"vector", {1, 2}}}).code, 400u);
}

// Users of four groups, each with the items of its group; item names are numbers as in the log.
TEST_F(PredictApiTest, KnownItemsAreExcludedUnlessRequested) {
  std::string log;
  for (int user = 0; user < 60; ++user) {
    log += std::to_string(user);
    for (int item = 0; item < 6; ++item) log.append(1, ' ').append(std::to_string(user % 4 * 6 + item));
    log += '\n';
  }
  write_file(slide_->path("log.txt"), log);
  run({"train", "log.txt", "--set", "data.kind=interactions", "--epochs", "2", "--out", "items"});
  ServerProcess server = serve("items");
  const Json ask = {{"features", {{"0", 1}, {"1", 1}, {"2", 1}}}, {"k", 24}};
  const auto has_known = [&](const Json& request) {
    const Answer answer = server.client().predict(request);
    EXPECT_EQ(answer.code, 200u) << answer.body;
    std::size_t known = 0;
    const Json json = answer.json();
    for (const Json& one : json["predictions"]) known += one["id"] <= 2 ? 1 : 0;
    return known;
  };
  Json kept = ask, left_out = ask;
  kept["keep_known"] = true;
  left_out["keep_known"] = false;
  EXPECT_EQ(has_known(ask), 0u);
  EXPECT_EQ(has_known(left_out), 0u);
  EXPECT_EQ(has_known(kept), 3u);
  EXPECT_EQ(server.stop(), 0) << server.errors();
}

TEST_F(PredictApiTest, LabelsOfTextsCountForNothing) {
  ServerProcess server = serve("text", {"--k", "2"});
  Client client = server.client();
  const Json plain = client.predict({{"text", "bread and salt"}}).json()["predictions"];
  for (const char* text : {"__label__music bread and salt", "__label__ bread and salt",
                           "bread and __label__music salt", "bread\n__label__music and salt"}) {
    const Answer answer = client.predict({{"text", text}});
    ASSERT_EQ(answer.code, 200u) << answer.body;
    EXPECT_EQ(answer.json()["predictions"], plain) << text;
  }
}

TEST_F(PredictApiTest, NamesOfLabelsComeFromAFile) {
  std::string names;
  for (int i = 0; i < 60; ++i) names += "label " + std::to_string(i) + "\n";
  write_file(slide_->path("names.txt"), names);
  ServerProcess server = serve("ids", {"--labels", "names.txt"});
  const Json best = server.client().predict({{"features", {{"3", 1}}}, {"k", 1}}).json()["predictions"][0];
  EXPECT_EQ(best["label"], "label " + best["id"].dump());
  const Outcome printed =
      run({"predict", "ids/model.slide", "-", "--labels", "names.txt", "--k", "1"}, " 3:1\n");
  EXPECT_TRUE(printed.out.starts_with("label " + best["id"].dump() + ":")) << printed.out;
  write_file(slide_->path("few.txt"), "one\ntwo\n");
  for (const Strings& arguments : {Strings{"serve", "ids/model.slide", "--port", "0", "--labels", "few.txt"},
                                   Strings{"predict", "ids/model.slide", "-", "--labels", "few.txt"}}) {
    expect_refused(slide_->run(arguments, " 3:1\n"), "few.txt: 2 names, but the model has 60 labels");
  }
}

TEST_F(PredictApiTest, WrongRequestsAreToldSoInOneLine) {
  ServerProcess ids = serve("ids"), text = serve("text");
  struct Case {
    const ServerProcess& server;
    const char* method;
    const char* target;
    const char* body;
    const char* more;
    unsigned code;
    const char* part;
  };
  const Case cases[] = {
      {ids, "GET", "/predict", "", "", 405, "takes POST"},
      {ids, "PUT", "/health", "", "", 405, "takes GET"},
      {ids, "POST", "/metrics", "{}", "", 405, "takes GET"},
      {ids, "GET", "/nothing", "", "", 404, "POST /predict"},
      {ids, "POST", "/predictions", "{}", "", 404, "POST /predict"},
      {ids, "POST", "/predict", "{}", "Content-Type: text/plain\r\n", 415, "send JSON"},
      {ids, "POST", "/predict", "{}", "Content-Encoding: gzip\r\n", 415, "Content-Encoding"},
      {ids, "POST", "/predict", "", "", 400, "no JSON"},
      {ids, "POST", "/predict", "{\"text\": ", "", 400, "no JSON (byte 10)"},
      {ids, "POST", "/predict", "{\"features\": \"\xff\"}", "", 400, "no JSON"},
      {ids, "POST", "/predict", "{\"k\": 1e999}", "", 400, "out of range"},
      {ids, "POST", "/predict", "7", "", 400, "must be an object"},
      {ids, "POST", "/predict", "{}", "", 400,
       "give one of \\\"text\\\", \\\"features\\\", \\\"user\\\" and"},
      {ids, "POST", "/predict", R"({"text": "a", "inputs": []})", "", 400, "give one of"},
      {ids, "POST", "/predict", R"({"features": {}, "inputs": []})", "", 400, "give one of"},
      {ids, "POST", "/predict", R"({"text": "a"})", "", 400, "the model was trained on features"},
      {ids, "POST", "/predict", R"({"feature": {}})", "", 400,
       "unknown key 'feature'; did you mean 'features'? known"},
      {text, "POST", "/predict", R"({"texts": ["a"]})", "", 400, "'texts'; did you mean 'inputs'? known"},
      {text, "POST", "/predict", R"({"texts": "a"})", "", 400, "'texts'; did you mean 'text'? known"},
      {text, "POST", "/predict", R"({"text": "a", "top_k": 3})", "", 400, "'top_k'; did you mean 'k'?"},
      {text, "POST", "/predict", R"({"text": "a", "treshold": 1})", "", 400, "did you mean 'threshold'?"},
      {text, "POST", "/predict", R"({"items": ["a"]})", "", 400,
       "items: the model was not trained on interactions and has no items; send \\\"text\\\""},
      {ids, "POST", "/predict", R"({"item": "a"})", "", 400, "and has no items; send \\\"features\\\""},
      {text, "POST", "/predict", R"({"text": "a", "?": 1})", "", 400,
       "key '?'; known are text, features, user"},
      {text, "POST", "/predict", R"({"text": ["a", "b"]})", "", 400, "give \\\"inputs\\\", a list"},
      {ids, "POST", "/predict", R"({"features": 3})", "", 400, "must be an object"},
      {ids, "POST", "/predict", R"({"features": {"x": 1}})", "", 400, "'x' is no feature id"},
      {ids, "POST", "/predict", R"({"features": {"-1": 1}})", "", 400, "'-1' is no feature id"},
      {ids, "POST", "/predict", R"({"features": {"99999999999999999999": 1}})", "", 400, "no feature id"},
      {ids, "POST", "/predict", R"({"features": {"1": "a"}})", "", 400,
       "feature 1: the value must be a number"},
      {ids, "POST", "/predict", R"({"features": {"1": 1e300}})", "", 400, "fits a float"},
      {ids, "POST", "/predict", R"({"features": [[1, 2, 3]]})", "", 400, "[id, value] pair"},
      {ids, "POST", "/predict", R"({"features": [[1, 3e38], [1, 3e38]]})", "", 400, "add up to no float"},
      {ids, "POST", "/predict", R"({"features": [1.5]})", "", 400, "1.5 is no feature id"},
      {ids, "POST", "/predict", R"({"inputs": {}})", "", 400, "inputs must be a list"},
      {ids, "POST", "/predict", R"({"inputs": [{"features": {}}, {"features": {"x": 1}}]})", "", 400,
       "inputs[1]: 'x'"},
      {ids, "POST", "/predict", R"({"inputs": [3]})", "", 400, "inputs[0]: an input must be"},
      {ids, "POST", "/predict", R"({"features": {}, "k": 0})", "", 400, "k must be a whole number from 1"},
      {ids, "POST", "/predict", R"({"features": {}, "k": "5"})", "", 400, "k must be"},
      {ids, "POST", "/predict", R"({"features": {}, "explain": 0})", "", 400,
       "explain must be a whole number from 1 to 100"},
      {ids, "POST", "/predict", R"({"inputs": [{"features": {}}, {"features": {}}], "k": 60, "explain": 1})",
       "", 400, "explain: 2 inputs with k = 60 make more than 100 labels"},
      {ids, "POST", "/predict", R"({"features": {}, "threshold": "high"})", "", 400, "threshold must be"},
      {ids, "POST", "/predict", R"({"features": {}, "threshold": 30})", "", 400,
       "the threshold 30 is no probability; give one from 0 to 1"},
      {ids, "POST", "/predict", R"({"features": {}, "scores": "percent"})", "", 400,
       "\\\"probability\\\" or \\\"logit\\\""},
      {ids, "POST", "/predict", R"({"features": {}, "inference": "lsh"})", "", 400, "--inference lsh"},
      {ids, "POST", "/predict", R"({"features": {}, "keep_known": 1})", "", 400, "must be true or false"},
      {ids, "POST", "/predict", R"({"features": {}, "keep_known": true})", "", 400,
       "not trained on interactions"},
      {text, "POST", "/predict", R"({"text": 3})", "", 400, "text must be a string"},
      {text, "POST", "/predict", R"({"inputs": ["a", null]})", "", 400, "inputs[1]"},
  };
  for (const Case& c : cases) {
    const Answer answer = c.server.client().ask(c.method, c.target, c.body, c.more);
    EXPECT_EQ(answer.code, c.code) << c.body << answer.body;
    ASSERT_TRUE(answer.json()["error"].is_string()) << answer.body;
    EXPECT_TRUE(contains(answer.body, c.part));
    EXPECT_EQ(answer.json()["error"].get<std::string>().find('\n'), std::string::npos) << answer.body;
    EXPECT_EQ(c.code == 405, !answer.allow.empty()) << c.target;
  }
  Json many = {{"inputs", Json::array()}, {"k", 60}};
  for (int i = 0; i < 4097; ++i) many["inputs"].push_back({{"features", Json::object()}});
  EXPECT_EQ(ids.client().predict(many).code, 400u);
  const std::string nul = std::string(R"({"features": {}})") + '\0' + R"({"features": {}})";
  EXPECT_TRUE(contains(ids.client().ask("POST", "/predict", nul).body, "byte 17: a NUL byte"));
  EXPECT_EQ(ids.stop(), 0) << ids.errors();
  EXPECT_EQ(text.stop(), 0) << text.errors();
}

TEST_F(PredictApiTest, BadJsonOfAllKindsHarmsNothing) {
  ServerProcess server = serve("ids");
  const Strings seeds = {R"({"features": {"3": 0.5, "7": 1, "119": -2e-3}, "k": 3, "scores": "logit"})",
                         R"({"inputs": [{"features": [1, [2, 0.5], [2, 0.25]]}], "threshold": 0.1})",
                         "[[[[]]]]"};
  std::mt19937 random(11);
  Client client = server.client();
  int good = 0, bad = 0;
  for (int i = 0; i < 1500; ++i) {
    std::string body = seeds[random() % seeds.size()];
    for (std::uint32_t changes = random() % 4; changes-- > 0 && !body.empty();) {
      const std::size_t at = random() % body.size();
      switch (random() % 4) {
        case 0:
          body[at] = static_cast<char>(random());
          break;
        case 1:
          body.erase(at, 1 + random() % 5);
          break;
        case 2:
          body.insert(at, body.substr(random() % body.size(), random() % 9));
          break;
        default:
          body.insert(at, 1, "{}[]\",:0-e.\\u"[random() % 13]);
          break;
      }
    }
    const Answer answer = client.ask("POST", "/predict", body);
    ASSERT_TRUE(answer.code == 200 || answer.code == 400) << body << answer.body;
    ASSERT_TRUE(answer.json().contains("error") == (answer.code == 400)) << answer.body;
    ++(answer.code == 200 ? good : bad);
  }
  EXPECT_GT(good, 100);
  EXPECT_GT(bad, 500);
  EXPECT_EQ(client.ask("POST", "/predict", std::string(200000, '[')).code, 400u);
  std::string deep = "{\"features\":";
  for (int i = 0; i < 100000; ++i) deep += "[";
  deep += std::string(100000, ']') + "}";
  EXPECT_EQ(client.ask("POST", "/predict", deep).code, 400u);
  EXPECT_EQ(server.stop(), 0) << server.errors();
}

TEST_F(PredictApiTest, NothingOfAClientIsPrintedWhole) {
  ServerProcess server = serve("ids");
  const std::string open(100000, '['), close(100000, ']'), large(100000, 'x');
  std::string objects;
  for (int i = 0; i < 100000; ++i) objects += "{\"a\":";
  std::string numbers = "[1";
  for (int i = 0; i < 100000; ++i) numbers += ",1";
  const Strings bodies = {R"({"features":[[)" + open + close + ",1]]}",
                          R"({"features":[)" + open + close + "]}",
                          R"({"features":[[)" + objects + "1" + std::string(100000, '}') + ",1]]}",
                          R"({"inputs":[{"features":{"1":)" + open + close + "}}]}",
                          R"({"k":)" + open + close + "}",
                          R"({"features":[[)" + numbers + "],1]]}",
                          R"({"features":[[")" + large + R"(",1]]})",
                          R"({"features":{")" + large + R"(":1}})",
                          R"({"inputs":[{")" + large + R"(":1}]})",
                          "{\"" + large + "\":1}",
                          R"({"features":{},"scores":")" + large + "\"}"};
  for (const std::string& body : bodies) {
    const Answer answer = server.client().ask("POST", "/predict", body);
    EXPECT_EQ(answer.code, 400u) << body.substr(0, 40);
    EXPECT_LT(answer.body.size(), 250u) << answer.body.substr(0, 400);
  }
  EXPECT_LT(server.client().ask("GET", "/" + std::string(9000, 'x')).body.size(), 250u);
  // The nesting of valid requests is accepted; brackets in strings do not count.
  const std::string deepest = R"({"inputs":[{"features":[[1,0.5]]},{"features":{"2":1}}],"k":1})";
  EXPECT_EQ(server.client().ask("POST", "/predict", deepest).code, 200u);
  const Answer named = server.client().predict({{std::string(60, '['), 1}, {"features", {{"1", 1}}}});
  EXPECT_TRUE(contains(named.body, "unknown key '[[["));
  EXPECT_EQ(server.stop(), 0) << server.errors();
}

}  // namespace
}  // namespace slide::test
