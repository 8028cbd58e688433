// Writes the seeds of the fuzzer with the project's own writers: FOLDER/TARGET/*, and dictionaries
// FOLDER/TARGET.dict.
// usage: fuzz_seeds FOLDER
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

#include "datasets/cache.h"
#include "datasets/formats/npy.h"
#include "datasets/formats/npz.h"
#include "datasets/generator.h"
#include "engine/base/byte_io.h"
#include "engine/config/fields.h"
#include "engine/model/model_file.h"
#include "engine/run/checkpoint.h"
#include "engine/run/quantize.h"
#include "engine/training/trainer.h"
#include "tests/fuzz/cache_seal.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/packing.h"
#include "tests/fuzz/summed.h"
#include "tests/fuzz/tiny_models.h"

namespace slide::fuzz {
namespace {

namespace fs = std::filesystem;

class Seeds {
 public:
  explicit Seeds(fs::path folder) : folder_(std::move(folder)) {}

  // Path of the seed `name` of a target.
  std::string path(const char* target, const std::string& name) const {
    fs::create_directories(folder_ / target);
    return (folder_ / target / name).string();
  }
  void put(const char* target, const std::string& name, std::string_view bytes) const {
    std::ofstream(path(target, name), std::ios::binary) << bytes;
  }
  void put_all(const char* target, const std::vector<std::string>& texts) const {
    for (std::size_t i = 0; i < texts.size(); ++i) put(target, std::to_string(i), texts[i]);
  }
  void put_dictionary(const char* target, const std::vector<std::string>& words) const {
    std::ofstream file(folder_ / (std::string(target) + ".dict"));
    for (const std::string& word : words) file << '"' << word << "\"\n";
  }

 private:
  fs::path folder_;
};

void write_lines(const Seeds& seeds) {
  const GeneratorOptions options = {.samples = 5,
                                    .test_samples = 1,
                                    .features = 20,
                                    .labels = 6,
                                    .features_per_sample = 4,
                                    .labels_per_sample = 2,
                                    .threads = 1};
  const Folder folder;
  generate_dataset(options, folder.path("data"));
  fs::copy_file(folder.path("data/train.txt"), seeds.path("xmc", "generated"),
                fs::copy_options::overwrite_existing);
  seeds.put_all(
      "xmc", {"2 3 2\n0,1 0:1 2:-0.5\n\n", "1 5:1e-3 2:.5 # comment\n+3 1:2\n-1 7\n",
              "1,2 1:0.5 1:0.25\n\n2.0 3:1\n", "1 4 2\n1:1 3:2 0:1e38 0:1e38\n", "3 1 1\n0 0:0\n 0:1\n0\n"});
  seeds.put_dictionary(
      "xmc", {"0:", ":1", "1e38", "4294967295", "4294967294", "nan", "inf", "-1", ",", "\\x0d\\x0a", "#"});
}

void write_texts(const Seeds& seeds) {
  seeds.put("labelled_text", "table", kTinyText);
  seeds.put_all("labelled_text",
                {"__label__a __label__b one two\n__label__b two three\n",
                 "a,b\tONE two \xe4\xb8\xad\xe6\x96\x87 two\r\n\nb\tsoft\xc2\xadhyphen e\xcc\x81\n",
                 "\xef\xbb\xbf__label__x \xff\xfe one\n\n__label__x\n"});
  seeds.put_dictionary("labelled_text", {"__label__", "\\x09", ",", "\\xef\\xbb\\xbf", "\\xe4\\xb8\\xad",
                                         "\\xcc\\x81", "\\xc2\\xad", "\\xef\\xb7\\xba"});
}

void write_interactions(const Seeds& seeds) {  // the last byte: min users, malformed lines, lengths
  const std::string lists = "ann tea jam\nbob tea,jam\tbread\r\n\ncid\nann bread tea\n";
  const std::string pairs =
      "userId,movieId,rating,time\n1,5,3.5,100\n1,7,2,90\n2,5,0,80\n2,7,x,1\n2,9,1e3,70\n";
  const std::string numbers = "0 5 7\n1 5 9 11\n2\n";
  std::vector<std::string> all;
  for (const char choice : {'\0', '\5', '\16'}) {
    for (const std::string& text : {lists, pairs, numbers}) all.push_back(text + choice);
  }
  seeds.put_all("interactions", all);
  seeds.put_dictionary("interactions", {"user", ",", "\\x09", "\\x0d", " 1 ", "nan", "1e9"});
}

void write_tables(const Seeds& seeds) {  // the last byte: format and columns
  const std::string json =
      "{\"a\": \"one two\", \"b\": [\"x\", \"y\"], \"c\": \"x, y\", \"w\": 2}\n\n"
      "{\"a\": null, \"b\": \"three\", \"c\": [\"x\", 7]}\n{\"a\": {\"b\": [1, 2e3]}}\n";
  const std::string csv =
      "\xef\xbb\xbf\"a\",b,c,w\r\none,\"two \"\"2\"\",\"x,y\",2\r\n\"three\nfour\",x,,\r\n,5\" "
      "disk,y,1\n\"open,y,x\n";
  std::string tsv = csv;
  for (char& c : tsv) c = c == ',' ? '\t' : c;
  seeds.put_all("table", {json + '\x04', json + '\x1c', json + '\x47', csv + '\x05', csv + '\x1d',
                          csv + '\x45', csv + '\x07', tsv + '\x06', tsv + '\x46'});
  seeds.put_dictionary("table", {"\\x22", "\\x22\\x22", "\\x0d\\x0a", "{\\x22a\\x22:", "\\x22c\\x22:", "null",
                                 "\\xef\\xbb\\xbf", "[", "]}"});
}

// Most of a written configuration is comments.
std::string without_comments(const std::string& toml) {
  std::string config;
  std::istringstream lines(toml);
  for (std::string line; std::getline(lines, line);) {
    line.resize(std::min(line.find('#'), line.size()));
    line.resize(line.find_last_not_of(' ') + 1);
    if (!line.empty()) config += line + '\n';
  }
  return config;
}

void write_configs(const Seeds& seeds) {
  Config config = tiny_config();
  seeds.put("config", "tiny", without_comments(to_toml(config)));
  seeds.put("config", "short", "[train]\nepochs = 2\n[[layer]]\nsize = 4\n[[layer]]\nkind = \"sampled\"\n");
  std::string overrides;
  std::vector<std::string> words = {"[[layer]]", "[layer.hash]", "\\x0a--set\\x0a", "true", "false",
                                    "nan",       "inf"};
  for (config::Section& section : config::all_sections(config)) {
    for (const config::Field& field : section.fields) {
      const std::string key = fmt::format("{}.{}", section.name, field.key);
      words.push_back(key + "=");
      words.emplace_back(field.key);
      overrides += fmt::format("{}={}\n", key, value_text(field));
    }
  }
  seeds.put("config", "overrides", "\n--set\n" + overrides);
  seeds.put_dictionary("config", words);
}

// Each configuration has something that the others lack.
std::vector<std::pair<std::string, Config>> model_configs() {
  const Config plain = tiny_config();
  std::vector<std::pair<std::string, Config>> configs = {{"plain", plain}};
  const auto add = [&](const char* name, const std::function<void(Config&)>& change) {
    change(configs.emplace_back(name, plain).second);
  };
  add("bf16", [](Config& c) { c.train.weights = Precision::kBf16; });
  add("softmax", [](Config& c) { c.loss.kind = LossKind::kSoftmax, c.loss.gradient_threshold = 0; });
  add("factors", [](Config& c) { c.data.idf_power = 1; });
  add("adam", [](Config& c) { c.optimizer.kind = OptimizerKind::kAdam; });
  add("bare", [](Config& c) {
    c.train.save_optimizer = false, c.neighbours.share = 0, c.layers.back().wide = false;
  });
  add("deep", [](Config& c) { c.layers.insert(c.layers.begin(), c.layers.front()); });
  add("output_alone", [](Config& c) { c.layers.erase(c.layers.begin()); });
  return configs;
}

std::string content_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

// Removes the comments of the configuration in a file.
void shorten(const std::string& path) {
  std::string file = content_of(path);
  unseal(file);
  replace_config(file, without_comments(config_of(file).value()));
  seal(file);
  std::ofstream(path, std::ios::binary) << file;
}

// A refused seed would not reach the code behind the check, so each file is tried.
void write_models(const Seeds& seeds) {
  const auto finish = [](const std::string& path) {
    shorten(path);
    load_model(path);
  };
  for (const auto& [name, config] : model_configs()) {
    save_feature_model(seeds.path("model_file", name), config);
    finish(seeds.path("model_file", name));
  }
  for (const ModelForm form : {ModelForm::kBf16, ModelForm::kInt8}) {
    const std::string path = seeds.path("model_file", form == ModelForm::kBf16 ? "small_bf16" : "small_int8");
    quantize_model(
        {.model = seeds.path("model_file", "factors"), .out = path, .form = form, .pruning = {}, .test = {}});
    finish(path);
  }
  save_text_model(seeds.path("model_file", "text"), tiny_config());
  finish(seeds.path("model_file", "text"));
}

void write_checkpoints(const Seeds& seeds) {
  const Config config = tiny_config();
  const Dataset data = tiny_data();
  Trainer trainer(resumed_job(config, data, 4));
  const RunRecord record = {config, 4, digest_of(data), std::nullopt, 0};
  save_checkpoint(seeds.path("checkpoint", "begun"), record, trainer);
  TrainObserver observer;
  observer.step = [](const StepReport& report) { return report.step < 2; };
  trainer.run(observer);
  save_checkpoint(seeds.path("checkpoint", "two_steps"), record, trainer);
  for (const char* name : {"begun", "two_steps"}) {
    shorten(seeds.path("checkpoint", name));
    Trainer restored(resumed_job(config, data, 4));
    Checkpoint(seeds.path("checkpoint", name)).restore(restored);
  }
}

void write_cache(const Seeds& seeds) {
  const Folder folder;
  std::ofstream(folder.path("data")) << "3 4 2\n0,1 0:1 2:-0.5\n\n1 3:2\n";
  ReadOptions options;
  options.threads = 1;
  read_dataset_cached(folder.path("data"), options);
  const std::string written = content_of(cache_path(folder.path("data")));
  std::string sealed = written;
  seal_cache(sealed);
  check(sealed == written, "the mutator's checksums are those of caches");
  seeds.put("cache", "rows", written);
}

void write_packed(const Seeds& seeds) {
  const std::string text = "2 3 2\n0,1 0:1 2:-0.5\n1 1:1\n";
  seeds.put("gzip", "one", pack_gzip(text));
  seeds.put("gzip", "members", pack_gzip("1 2 2\n") + pack_gzip("0 1:1\n"));
  seeds.put("gzip", "empty", pack_gzip(""));
  seeds.put("gzip", "byte_order_mark", pack_gzip("\xef\xbb\xbf" + text));
  seeds.put("gzip", "lines_of_cr", pack_gzip("2 3 2\r0,1 0:1\r1 1:1\r"));
  seeds.put("gzip", "wide",
            pack_gzip("\xff\xfe"
                      "1\n"));
  seeds.put("gzip", "packed_twice", pack_zstd(pack_gzip(text)));
  seeds.put("gzip", "xz",
            pack_gzip(std::string("\xfd"
                                  "7zXZ\0",
                                  6)));
  seeds.put("gzip", "zstd", pack_zstd(text));
  seeds.put("gzip", "frames", pack_zstd("1 2 2\n") + pack_zstd("0 1:1\n"));
}

void write_arrays(const Seeds& seeds) {
  const std::vector<std::int32_t> ends = {0, 2, 3}, ids = {2, 0, 1};
  const std::vector<std::int64_t> shape = {2, 3};
  const std::vector<double> values = {1, -0.5, 2};
  const auto array = [](const char* type, const char* sizes, const auto& items) {
    return npy_bytes(type, sizes, bytes_of(items));
  };
  const std::vector<std::pair<std::string, std::string>> members = {
      {"indices.npy", array("<i4", "(3,)", ids)},
      {"indptr.npy", array("<i4", "(3,)", ends)},
      {"format.npy", npy_bytes("|S3", "()", "csr")},
      {"shape.npy", array("<i8", "(2,)", shape)},
      {"data.npy", array("<f8", "(3,)", values)}};
  seeds.put("npz", "stored", stored_zip(members));
  write_npz(tiny_data(), {seeds.path("npz", "features"), seeds.path("npz", "labels")});
  for (const auto& [name, bytes] : members) seeds.put("npy", name, bytes);
  for (const char* type : {"<i8", "<u8", "<u4", "<i2", "<u2", "|i1", "|u1", "|b1", "<f4", "<f8"})
    seeds.put("npy", type + 1,
              npy_bytes(type, "(1,)", std::string(static_cast<std::size_t>(type[2] - '0'), '\1')));
  const std::vector<std::string> words = {"'descr': '", "'shape': (", "'fortran_order': True", "<i8",
                                          "<f4",        "|b1",        "\\x93NUMPY\\x02\\x00"};
  seeds.put_dictionary("npy", words);
  seeds.put_dictionary("npz", words);
}

void write_images(const Seeds& seeds) {
  constexpr std::string_view kImages("\0\0\x08\x03\0\0\0\2\0\0\0\2\0\0\0\2\0\xff\1\0\0\0\0\0", 24);
  constexpr std::string_view kLabels("\0\0\x08\x01\0\0\0\2\3\0", 10);
  seeds.put("idx", "images", std::string(kImages) + std::string(kLabels));
}

void write_http(const Seeds& seeds) {
  const std::string body = R"({"features":[0,[1,0.5]]})";
  const std::string post = "POST /predict HTTP/1.1\r\nHost: here\r\n";
  const std::string health = "GET /health HTTP/1.1\r\nHost: here\r\n\r\n";
  const std::string length = fmt::format("Content-Length: {}\r\n", body.size());
  seeds.put_all(
      "http",
      {post + length + "\r\n" + body + health, health + "HEAD /metrics HTTP/1.0\r\n\r\n",
       post + length + "Expect: 100-continue\r\nConnection: close\r\n\r\n" + body,
       post + fmt::format("Transfer-Encoding: chunked\r\n\r\n{:x}\r\n{}\r\n0\r\n\r\n", body.size(), body) +
           health,
       post + "Content-Length: 99999\r\n\r\n{", "PUT /predict HTTP/1.1\r\n\r\n",
       "GET /?a=%00 HTTP/1.1\r\n\r\n"});
  seeds.put_dictionary(
      "http", {"GET ", "HEAD ", "POST ", "/predict", "/health", "/metrics", " HTTP/1.1\\x0d\\x0a",
               " HTTP/1.0\\x0d\\x0a", "Content-Length: ", "Transfer-Encoding: chunked", "Connection: close",
               "Connection: keep-alive", "Connection: upgrade", "Expect: 100-continue",
               "\\x0d\\x0a\\x0d\\x0a", "0\\x0d\\x0a\\x0d\\x0a", "Upgrade: h2c"});
}

void write_requests(const Seeds& seeds) {
  seeds.put_all(
      "predict_api",
      {R"({"features":{"0":1,"2":0.5},"k":2})", R"({"features":[1,[2,0.25],[1,-1e3]],"scores":"logit"})",
       R"({"text":"tulips and \u00e4 choir","threshold":0.1,"inference":"lsh"})",
       R"({"text":"tulips and a choir","explain":3})", R"({"features":{"1":0.5,"7":3e38},"explain":9})",
       R"([{"features":[0]},{"features":{}},{"features":[[3,1e38],[3,1e38]]}])",
       R"({"inputs":["networks",{"text":"a violin"},""],"inference":"full","scores":"probability"})"});
  seeds.put_dictionary(
      "predict_api", {R"(\"features\":)", R"(\"text\":)", R"(\"inputs\":)", R"(\"k\":)", R"(\"threshold\":)",
                      R"(\"explain\":)", R"(\"scores\":\"logit\")", R"(\"inference\":\"lsh\")", "1e38",
                      "-1e38", "1e400", "\\\\u0000", "[[", "{}"});
}

}  // namespace
}  // namespace slide::fuzz

int main(int argument_count, char** arguments) {
  if (argument_count != 2) {
    std::fprintf(stderr, "usage: %s FOLDER\n", arguments[0]);
    return 2;
  }
  const slide::fuzz::Seeds seeds(arguments[1]);
  write_lines(seeds);
  write_texts(seeds);
  write_interactions(seeds);
  write_tables(seeds);
  write_configs(seeds);
  write_models(seeds);
  write_checkpoints(seeds);
  write_cache(seeds);
  write_packed(seeds);
  write_arrays(seeds);
  write_images(seeds);
  write_requests(seeds);
  write_http(seeds);
  return 0;
}
