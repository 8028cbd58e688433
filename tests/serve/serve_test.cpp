// 'slide serve' as its users meet it: a process, a port, clients of all kinds.
#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <deque>
#include <random>
#include <sstream>

#include "tests/serve/client.h"

namespace slide::test {
namespace {

using Strings = std::vector<std::string>;

constexpr const char* kConfig = R"([train]
epochs = 3
batch_size = 32
block_size = 16
[[layer]]
size = 16
[[layer]]
kind = "sampled"
lsh = 16
uniform = 8
wide = true
[layer.hash]
k = 4
tables = 8
range_pow = 4
)";

constexpr const char* kText[][2] = {{"gärten", "roses and tulips"},
                                    {"music", "a violin, a cello and a choir"},
                                    {"deep \"learning\"", "networks of neurons"},
                                    {"cooking", "bread from the oven"},
                                    {"gärten", "tulips in spring"},
                                    {"music", "a choir sings"},
                                    {"deep \"learning\"", "a gradient of networks"},
                                    {"cooking", "salt and bread"}};

// Models are trained once for all tests.
class ServeTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    slide_ = new Program;
    write_file(slide_->path("c.toml"), kConfig);
    run({"generate", "--samples", "300", "--features", "120", "--labels", "60", "--seed", "3",
         "--test-samples", "40", "--out", "data"});
    run({"train", "c.toml", "--set", "data.train=data/train.txt", "--out", "ids"});
    run({"train", "c.toml", "--set", "data.train=data/train.txt", "--seed", "7", "--out", "other"});
    run({"train", "c.toml", "--set", "data.train=data/train.txt", "--set", "loss.kind=softmax", "--out",
         "softmax"});
    run({"train", "c.toml", "--set", "data.train=data/train.txt", "--set", "data.idf_power=1.5", "--out",
         "scaled"});
    std::string table;
    for (int i = 0; i < 5; ++i) {
      for (const auto& [label, text] : kText) table += std::string(label) + "\t" + text + "\n";
    }
    write_file(slide_->path("train.tsv"), table);
    run({"train", "c.toml", "--set", "data.train=train.tsv", "--set", "train.epochs=20", "--set",
         "text.min_count=1", "--out", "text"});
  }
  static void TearDownTestSuite() {
    delete slide_;
    slide_ = nullptr;
  }
  static Outcome run(const Strings& arguments, const std::string& input = "") {
    Outcome outcome = slide_->run(arguments, input);
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    return outcome;
  }
  static std::string folder() { return slide_->folder().string(); }
  static ServerProcess serve(const std::string& model, Strings more = {}) {
    more.insert(more.begin(), model + "/model.slide");
    return {folder(), more};
  }

  // Samples of the test file: the lines of their features, and the same as JSON.
  static Strings lines() {
    Strings lines;
    std::istringstream file(read_file(slide_->path("data/test.txt")));
    std::string line;
    std::getline(file, line);
    while (std::getline(file, line)) lines.push_back(line);
    return lines;
  }
  static Json features_of(const std::string& line) {
    Json features = Json::object();
    std::istringstream words(line);
    for (std::string word; words >> word;) {
      const std::size_t colon = word.find(':');
      if (colon != std::string::npos) features[word.substr(0, colon)] = std::stod(word.substr(colon + 1));
    }
    return features;
  }

  // Whether an answer's predictions are those of a line of 'slide predict', up to rounding.
  static void expect_same(const Json& predictions, const std::string& line, char separator, const char* key) {
    std::istringstream words(line);
    std::size_t i = 0;
    for (std::string word; std::getline(words, word, separator); ++i) {
      ASSERT_LT(i, predictions.size()) << line;
      const std::size_t colon = word.rfind(':');
      const double score = std::stod(word.substr(colon + 1));
      EXPECT_NEAR(predictions[i]["score"].get<double>(), score, 1e-4 * std::max(1.0, std::fabs(score)));
      const std::string label = predictions[i][key].is_string() ? predictions[i][key].get<std::string>()
                                                                : predictions[i][key].dump();
      // Scores that differ by rounding may change places.
      const bool tie =
          (i > 0 && std::fabs(predictions[i - 1]["score"].get<double>() - score) < 1e-4) ||
          (i + 1 < predictions.size() && std::fabs(predictions[i + 1]["score"].get<double>() - score) < 1e-4);
      EXPECT_TRUE(label == word.substr(0, colon) || tie || i + 1 == predictions.size())
          << label << " for " << word;
    }
    EXPECT_EQ(i, predictions.size());
  }

  static Program* slide_;
};
Program* ServeTest::slide_ = nullptr;

TEST_F(ServeTest, AnswersWhatPredictPrints) {
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

TEST_F(ServeTest, AnswersTextWithNames) {
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
    // The same as a list of strings.
    EXPECT_EQ(client.predict(Json::array({text})).json()["results"][0]["predictions"][0]["label"], label);
  }
  const Answer none = client.predict({{"text", "a choir"}, {"threshold", 1.5}});
  EXPECT_EQ(none.json()["predictions"], Json::array());
  EXPECT_EQ(client.predict({{"inputs", Json::array()}}).json()["results"], Json::array());
  // Requests that are sent one behind the other are answered in their order.
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

TEST_F(ServeTest, NamesOfLabelsComeFromAFile) {
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
    const Outcome bad = slide_->run(arguments, " 3:1\n");
    EXPECT_EQ(bad.code, 2);
    EXPECT_NE(bad.err.find("few.txt: 2 names, but the model has 60 labels"), std::string::npos) << bad.err;
  }
}

TEST_F(ServeTest, WrongRequestsAreToldSoInOneLine) {
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
      {ids, "GET", "/", "", "", 404, "POST /predict"},
      {ids, "POST", "/predictions", "{}", "", 404, "POST /predict"},
      {ids, "POST", "/predict", "{}", "Content-Type: text/plain\r\n", 415, "send JSON"},
      {ids, "POST", "/predict", "{}", "Content-Encoding: gzip\r\n", 415, "Content-Encoding"},
      {ids, "POST", "/predict", "", "", 400, "no JSON"},
      {ids, "POST", "/predict", "{\"text\": ", "", 400, "no JSON (byte 10)"},
      {ids, "POST", "/predict", "{\"features\": \"\xff\"}", "", 400, "no JSON"},
      {ids, "POST", "/predict", "{\"k\": 1e999}", "", 400, "out of range"},
      {ids, "POST", "/predict", "7", "", 400, "must be an object"},
      {ids, "POST", "/predict", "{}", "", 400, "give one of"},
      {ids, "POST", "/predict", R"({"text": "a", "inputs": []})", "", 400,
       "the model was trained on features"},
      {ids, "POST", "/predict", R"({"features": {}, "inputs": []})", "", 400, "give one of"},
      {ids, "POST", "/predict", R"({"text": "a"})", "", 400, "the model was trained on features"},
      {ids, "POST", "/predict", R"({"feature": {}})", "", 400, "unknown key 'feature'"},
      {ids, "POST", "/predict", R"({"features": 3})", "", 400, "must be an object"},
      {ids, "POST", "/predict", R"({"features": {"x": 1}})", "", 400, "'x' is no feature id"},
      {ids, "POST", "/predict", R"({"features": {"-1": 1}})", "", 400, "'-1' is no feature id"},
      {ids, "POST", "/predict", R"({"features": {"120": 1}})", "", 400, "the model knows the ids 0 to 119"},
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
      {ids, "POST", "/predict", R"({"features": {}, "threshold": "high"})", "", 400, "threshold must be"},
      {ids, "POST", "/predict", R"({"features": {}, "scores": "percent"})", "", 400,
       "\\\"probability\\\" or \\\"logit\\\""},
      {ids, "POST", "/predict", R"({"features": {}, "inference": "lsh"})", "", 400, "--inference lsh"},
      {text, "POST", "/predict", R"({"text": 3})", "", 400, "text must be a string"},
      {text, "POST", "/predict", R"({"inputs": ["a", null]})", "", 400, "inputs[1]"},
  };
  for (const Case& c : cases) {
    const Answer answer = c.server.client().ask(c.method, c.target, c.body, c.more);
    EXPECT_EQ(answer.code, c.code) << c.body << answer.body;
    ASSERT_TRUE(answer.json()["error"].is_string()) << answer.body;
    EXPECT_NE(answer.body.find(c.part), std::string::npos) << answer.body;
    EXPECT_EQ(answer.json()["error"].get<std::string>().find('\n'), std::string::npos) << answer.body;
    EXPECT_EQ(c.code == 405, !answer.allow.empty()) << c.target;
  }
  Json many = {{"inputs", Json::array()}, {"k", 60}};
  for (int i = 0; i < 4097; ++i) many["inputs"].push_back({{"features", Json::object()}});
  EXPECT_EQ(ids.client().predict(many).code, 400u);
  EXPECT_EQ(ids.stop(), 0) << ids.errors();
  EXPECT_EQ(text.stop(), 0) << text.errors();
}

TEST_F(ServeTest, RequestsThatAreNoneOrTooLarge) {
  ServerProcess server = serve("text", {"--max-body", "1000"});
  const std::string large = R"({"text": ")" + std::string(2000, 'a') + "\"}";
  EXPECT_EQ(server.client().ask("POST", "/predict", large).code, 413u);
  Client chunked = server.client();
  chunked.send("POST /predict HTTP/1.1\r\nHost: here\r\nTransfer-Encoding: chunked\r\n\r\n7d0\r\n" +
               std::string(2000, ' ') + "\r\n0\r\n\r\n");
  EXPECT_EQ(chunked.receive().code, 413u);
  EXPECT_TRUE(chunked.is_closed());
  const std::string exact = R"({"text": ")" + std::string(1000 - 12, 'a') + "\"}";
  EXPECT_EQ(server.client().ask("POST", "/predict", exact).code, 200u);
  EXPECT_EQ(server.client().ask("GET", "/health", "", "X-Long: " + std::string(20000, 'x') + "\r\n").code,
            431u);
  Client garbage = server.client();
  garbage.send("\x16\x03\x01 what is this\r\n\r\n");
  EXPECT_EQ(garbage.receive().code, 400u);
  Client waiting = server.client();  // as curl does with larger bodies
  waiting.send("POST /predict HTTP/1.1\r\nHost: here\r\nExpect: 100-continue\r\nContent-Length: 17\r\n\r\n");
  EXPECT_EQ(waiting.receive().code, 100u);
  waiting.send(R"({"text": "choir"})");
  EXPECT_EQ(waiting.receive().code, 200u);
  EXPECT_EQ(server.stop(), 0) << server.errors();
}

TEST_F(ServeTest, BadJsonOfAllKindsHarmsNothing) {
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

TEST_F(ServeTest, NothingOfAClientIsPrintedWhole) {
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
  // What is as deep as requests are is taken; brackets in strings count for nothing.
  const std::string deepest = R"({"inputs":[{"features":[[1,0.5]]},{"features":{"2":1}}],"k":1})";
  EXPECT_EQ(server.client().ask("POST", "/predict", deepest).code, 200u);
  const Answer named = server.client().predict({{std::string(60, '['), 1}, {"features", {{"1", 1}}}});
  EXPECT_NE(named.body.find("unknown key '[[["), std::string::npos) << named.body;
  EXPECT_EQ(server.stop(), 0) << server.errors();
}

TEST_F(ServeTest, MoreThanItCanTakeIsRefusedAtOnce) {
  ServerProcess server = serve("ids", {"--threads", "1", "--max-queue", "0"});
  Json heavy = {{"inputs", Json::array()}, {"k", 10}};
  for (int i = 0; i < 2000; ++i) heavy["inputs"].push_back({{"features", {{"1", 1}, {"2", 1}, {"3", 1}}}});
  std::deque<Client> clients;
  for (int c = 0; c < 4; ++c) clients.emplace_back(server.port());
  std::size_t done = 0, refused = 0;
  for (int round = 0; round < 1000 && (done == 0 || refused == 0); ++round) {
    for (Client& client : clients) client.send(Client::text_of("POST", "/predict", heavy.dump()));
    for (Client& client : clients) {
      const Answer answer = client.receive();
      if (answer.code == 200) {
        ++done;
        EXPECT_EQ(answer.json()["results"].size(), 2000u);
      } else {
        ++refused;
        ASSERT_EQ(answer.code, 503u) << answer.body;
        EXPECT_EQ(answer.retry_after, "1");
      }
    }
  }
  EXPECT_GT(done, 0u);
  EXPECT_GT(refused, 0u);
  EXPECT_EQ(server.metric("slide_rejected_total"), static_cast<double>(refused));
  EXPECT_EQ(server.metric("slide_requests_in_flight"), 0);
  EXPECT_EQ(server.metric("slide_requests_total{endpoint=\"/predict\",code=\"503\"}"),
            static_cast<double>(refused));
  EXPECT_EQ(server.metric("slide_request_seconds_count{endpoint=\"/predict\"}"),
            static_cast<double>(done + refused));
}

TEST_F(ServeTest, ConnectionsAreBounded) {
  ServerProcess server = serve("ids", {"--max-connections", "2"});
  {
    Client first = server.client(), second = server.client();
    EXPECT_EQ(first.ask("GET", "/health").code, 200u);
    EXPECT_EQ(second.ask("GET", "/health").code, 200u);
    Client third = server.client();
    const Answer refused = third.receive();
    EXPECT_EQ(refused.code, 503u);
    EXPECT_EQ(refused.retry_after, "1");
    EXPECT_EQ(first.ask("GET", "/health").code, 200u);
  }
  EXPECT_TRUE(wait_until([&] { return server.client().ask("GET", "/health").code == 200; }));
}

TEST_F(ServeTest, SlowAndIdleClientsAreLetGo) {
  ServerProcess server = serve("ids", {"--timeout", "0.3", "--keep-alive", "0.3"});
  Client idle = server.client();
  EXPECT_TRUE(idle.is_closed());
  for (const char* part : {"POST /pre", "POST /predict HTTP/1.1\r\nHost: here\r\n",
                           "POST /predict HTTP/1.1\r\nHost: here\r\nContent-Length: 10\r\n\r\n{"}) {
    Client slow = server.client();
    slow.send(part);
    const Answer answer = slow.receive();
    EXPECT_EQ(answer.code, 408u) << part;
    EXPECT_TRUE(slow.is_closed());
  }
  // Byte after byte does not prolong it.
  Client dripping = server.client();
  dripping.send("GET /health HTTP/1.1\r\nX: ");
  std::thread drops([&] {
    for (int i = 0; i < 100; ++i) {
      try {
        dripping.send("x");
      } catch (const boost::system::system_error&) {
        return;  // closed, as it should be
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
  });
  EXPECT_EQ(dripping.receive().code, 408u);
  drops.join();
  EXPECT_EQ(server.client().ask("GET", "/health").code, 200u);
  EXPECT_EQ(server.stop(), 0) << server.errors();
}

TEST_F(ServeTest, AReloadLosesNoRequest) {
  const std::string served = slide_->path("served/model.slide");
  std::filesystem::create_directories(slide_->path("served"));
  const auto put =
      [&](const std::string& model) {  // as a deployment does: whole, under another name, then renamed
        std::filesystem::copy_file(slide_->path(model + "/model.slide"), served + ".new",
                                   std::filesystem::copy_options::overwrite_existing);
        std::filesystem::rename(served + ".new", served);
      };
  put("ids");
  ServerProcess server = serve("served", {"--threads", "2"});
  const std::string first = server.client().ask("GET", "/health").json()["model"];
  std::atomic<bool> enough = false;
  std::atomic<int> good = 0, bad = 0;
  std::vector<std::thread> clients;
  for (int c = 0; c < 4; ++c) {
    clients.emplace_back([&] {
      Client client = server.client();
      while (!enough) {
        try {
          const Answer answer = client.predict({{"features", {{"3", 1}, {"50", 0.5}}}, {"k", 2}});
          ++(answer.code == 200 && answer.json()["predictions"].size() == 2 ? good : bad);
        } catch (const std::exception&) {
          ++bad;
          return;
        }
      }
    });
  }
  std::string second;
  for (int round = 1; round <= 6; ++round) {
    put(round % 2 == 1 ? "other" : "ids");
    server.signal(SIGHUP);
    EXPECT_TRUE(wait_until([&] { return server.metric("slide_reloads_total{result=\"done\"}") == round; }));
    const std::string now = server.client().ask("GET", "/health").json()["model"];
    if (round == 1) second = now;
    EXPECT_EQ(now, round % 2 == 1 ? second : first);
  }
  EXPECT_NE(first, second);
  write_file(served + ".new", "this is no model");
  std::filesystem::rename(served + ".new", served);
  server.signal(SIGHUP);
  EXPECT_TRUE(wait_until([&] { return server.metric("slide_reloads_total{result=\"failed\"}") == 1; }));
  EXPECT_NE(server.errors().find("reload failed, the model before stays"), std::string::npos)
      << server.errors();
  EXPECT_EQ(server.client().ask("GET", "/health").json()["model"], first);
  enough = true;
  for (std::thread& client : clients) client.join();
  EXPECT_GT(good, 0);
  EXPECT_EQ(bad, 0);
  EXPECT_EQ(server.stop(), 0) << server.errors();
}

TEST_F(ServeTest, ASignalLetsRequestsUnderWayFinish) {
  for (const int number : {SIGTERM, SIGINT}) {
    ServerProcess server = serve("ids");
    Client begun = server.client(), idle = server.client();
    EXPECT_EQ(idle.ask("GET", "/health").code, 200u);
    const std::string request = Client::text_of("POST", "/predict", R"({"features": {"3": 1}})");
    begun.send(request.substr(0, request.size() / 2));
    EXPECT_TRUE(wait_until([&] { return server.metric("slide_connections") == 3; }));
    std::this_thread::sleep_for(std::chrono::milliseconds(50));  // the half is read, too
    server.signal(number);
    EXPECT_TRUE(idle.is_closed());
    EXPECT_THROW(server.client(), boost::system::system_error);  // no more connections
    begun.send(request.substr(request.size() / 2));
    const Answer answer = begun.receive();
    EXPECT_EQ(answer.code, 200u) << answer.body;
    EXPECT_EQ(answer.connection, "close");
    EXPECT_EQ(server.wait(), 0) << server.errors();
  }
}

// Of threads at work none is interrupted, and none has a signal wait until it does something.
TEST_F(ServeTest, SignalsGoToOneThread) {
  ServerProcess server = serve("ids", {"--threads", "3", "--inference", "lsh"});
  Client client = server.client();
  server.signal(SIGHUP);
  EXPECT_TRUE(wait_until([&] { return server.metric("slide_reloads_total{result=\"done\"}") == 1; }));
  EXPECT_EQ(client.predict({{"features", {{"3", 1}}}}).code, 200u);
  for (const int number : {SIGTERM, SIGINT, SIGHUP}) EXPECT_EQ(server.threads_that_take(number), 1) << number;
}

// Both are pending when the process goes on, and the server may see either first.
TEST_F(ServeTest, AReloadAndAStopAtOnceStop) {
  for (int round = 0; round < 12; ++round) {
    ServerProcess server = serve("ids");
    server.signal(SIGSTOP);
    server.signal(SIGHUP);
    server.signal(SIGTERM);
    server.signal(SIGCONT);
    ASSERT_EQ(server.wait(), 0) << server.errors();
  }
}

TEST_F(ServeTest, AClientThatNeverFinishesDoesNotKeepItAlive) {
  ServerProcess server = serve("ids", {"--timeout", "0.5"});
  Client begun = server.client();
  begun.send("POST /predict HTTP/1.1\r\n");
  EXPECT_TRUE(wait_until([&] { return server.metric("slide_connections") == 2; }));
  EXPECT_EQ(server.stop(), 0) << server.errors();
}

TEST_F(ServeTest, WhatCannotBeServedIsToldInOneLine) {
  ServerProcess server = serve("ids");
  struct Case {
    Strings arguments;
    const char* part;
  };
  const Case cases[] = {
      {{"ids/model.slide", "--port", std::to_string(server.port())}, "cannot listen on 127.0.0.1 port"},
      {{"ids/model.slide", "--port", "70000"}, "'70000' is no whole number from 0 to 65535"},
      {{"ids/model.slide", "--port", "0", "--host", "not a host"}, "--host not a host: no such address"},
      {{"ids/model.slide", "--port", "0", "--host", ""}, "--host"},
      {{"ids/model.slide", "--port", "0", "--timeout", "0"}, "--timeout"},
      {{"none.slide", "--port", "0"}, "there is no such model"},
      {{"c.toml", "--port", "0"}, "this is no slide model"},
  };
  for (const Case& c : cases) {
    Strings arguments = {"serve"};
    arguments.insert(arguments.end(), c.arguments.begin(), c.arguments.end());
    const Outcome outcome = slide_->run(arguments);
    EXPECT_EQ(outcome.code, 2) << outcome.err;
    EXPECT_NE(outcome.err.find(c.part), std::string::npos) << outcome.err;
    EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
  }
}

}  // namespace
}  // namespace slide::test
