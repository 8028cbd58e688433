#include "engine/cli/examples.h"

#include <algorithm>
#include <array>

namespace slide::cli {

namespace {

struct Examples {
  std::string_view command;
  std::array<std::string_view, 2> lines;
};

constexpr std::array kExamples = {
    Examples{"slide",
             {"slide train train.txt --test test.txt --out run", "slide predict run test.txt --k 3"}},
    Examples{"train",
             {"slide train train.txt --test test.txt --out run",
              "slide train tickets.jsonl --set data.text=title data.labels=tags --out tickets"}},
    Examples{"tune",
             {"slide tune train.txt --minutes 10 --out tuned.toml",
              "slide tune tickets.jsonl --set data.text=title data.labels=tags --trials 50"}},
    Examples{"test", {"slide test run test.txt", "slide test run test.txt --k 1,10 --json"}},
    Examples{"predict",
             {"slide predict run test.txt --k 3",
              "echo 'the printer is out of paper' | slide predict tickets - --threshold 0.3"}},
    Examples{"recommend",
             {"slide recommend shop --k 5", "slide recommend shop --users users.txt --out best.npz"}},
    Examples{"similar",
             {"slide similar shop i3 i7 --k 5", "slide similar tickets --all --of features > words.tsv"}},
    Examples{"evaluate",
             {"slide evaluate scores.txt test.txt --train train.txt",
              "slide evaluate scores.txt test.txt --threshold 0.5 --per-label labels.tsv"}},
    Examples{"vectors",
             {"slide vectors run --of labels --out labels.npy", "slide vectors run test.txt --out test.npy"}},
    Examples{"serve",
             {"slide serve run --port 8080", "slide serve tickets --host 0.0.0.0 --allow-host example.org"}},
    Examples{"models", {"slide models add served run --name v1", "slide models list served --json"}},
    Examples{"average",
             {"slide average run run2 --out both.slide", "slide average run run2 --out m.slide --json"}},
    Examples{"convert",
             {"slide convert train.txt X.train.npz", "slide convert run small.slide --weights int8"}},
    Examples{"generate",
             {"slide generate --samples 2000 --labels 100 --out data",
              "slide generate --dense 16 --features 500 --out dense"}},
    Examples{"inspect", {"slide inspect run", "slide inspect tickets --label printer"}},
    Examples{"bench-tables",
             {"slide bench-tables run test.txt", "slide bench-tables run test.txt --tables 8,16 --json"}},
    Examples{"report", {"slide report run run2 --out runs.html", "slide report run --watch"}},
    Examples{"config", {"slide config train.epochs", "slide config --json > keys.json"}},
    Examples{"completion", {"slide completion bash > slide.bash", "slide completion zsh > _slide"}},
    Examples{"man", {"slide man > slide.1", "slide man | head -n 20"}},
    Examples{"help", {"slide help", "slide help train"}},
    Examples{"version", {"slide version", "SLIDE_SIMD=scalar slide version"}},
};

}  // namespace

std::span<const std::string_view> examples_of(std::string_view command) {
  const auto* const found = std::ranges::find(kExamples, command, &Examples::command);
  return found == kExamples.end() ? std::span<const std::string_view>() : found->lines;
}

}  // namespace slide::cli
