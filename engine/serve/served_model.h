// A model as the server holds it: loaded, with what predictions need and the working memory of those who ask.
//
// Immutable but for the working memory, whose borrowing is guarded: all functions may be called from any
// thread. A server replaces the whole object; requests under way keep the one they began with alive.
#pragma once

#include <chrono>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "datasets/labelled_line.h"
#include "datasets/row_parser.h"
#include "datasets/tokenizer.h"
#include "engine/inference/attribution.h"
#include "engine/inference/inference.h"
#include "engine/run/label_names.h"
#include "engine/run/model_file.h"

namespace slide::serve {

// What a request computes with; one at a time has it.
struct Workspace {
  explicit Workspace(const TextOptions& text) : tokenizer(text) {}

  Tokenizer tokenizer;
  LabelledLine parts;
  Row row;
  Predictor::Scratch full, lsh;
  Attribution attribution;
};

class ServedModel {
 public:
  struct Options {
    std::string path;
    std::string labels;                  // file with names of labels, or empty
    std::optional<Inference> inference;  // none: eval.inference of the model
    int threads = 0;                     // for loading
  };
  // Loads the model and, for lsh, builds its tables. Throws InputError as load_model() and LabelNames do.
  explicit ServedModel(const Options& options);

  const Model& model() const { return model_; }
  const LabelNames& names() const { return names_; }
  const std::string& path() const { return path_; }
  // Eight hexadecimal digits, the checksum of the file.
  const std::string& fingerprint() const { return fingerprint_; }
  // How requests are answered that do not say.
  Inference inference() const { return lsh_ ? Inference::kLsh : Inference::kFull; }
  // nullptr where the model is not served that way.
  const Predictor* predictor(Inference mode) const;
  double load_seconds() const { return load_seconds_; }
  std::chrono::system_clock::time_point loaded_at() const { return loaded_at_; }

  // A Workspace for as long as this lives.
  class Lease {
   public:
    explicit Lease(const ServedModel& owner) : owner_(owner), space_(owner.borrow()) {}
    ~Lease() { owner_.give_back(std::move(space_)); }
    Lease(const Lease&) = delete;
    Lease& operator=(const Lease&) = delete;
    Workspace& operator*() { return *space_; }

   private:
    const ServedModel& owner_;
    std::unique_ptr<Workspace> space_;
  };

 private:
  std::unique_ptr<Workspace> borrow() const;
  void give_back(std::unique_ptr<Workspace> space) const;

  std::chrono::steady_clock::time_point begun_ = std::chrono::steady_clock::now();
  std::string path_;
  Model model_;
  LabelNames names_;
  std::string fingerprint_;
  std::optional<Predictor> full_, lsh_;
  double load_seconds_ = 0.0;
  std::chrono::system_clock::time_point loaded_at_;
  mutable std::mutex mutex_;
  mutable std::vector<std::unique_ptr<Workspace>> free_;
};

}  // namespace slide::serve
