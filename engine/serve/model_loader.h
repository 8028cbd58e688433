// The served model, and the thread that loads its replacement. Call the functions on the thread of `io`; the
// previous model lives until its last user releases it. Internal to the server.
#pragma once

#include <boost/asio/io_context.hpp>
#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "engine/serve/access_log.h"
#include "engine/serve/served_model.h"
#include "engine/serve/server_metrics.h"
#include "engine/serve/worker_threads.h"

namespace slide::serve {

class ModelLoader {
 public:
  using Load = std::function<std::shared_ptr<const ServedModel>()>;

  // Loads the first model on its own thread and rethrows what `load` throws. `log` and `metrics` are notified
  // of reloads and must outlive this object. Unless `any_kind`, a model that takes other inputs is not loaded
  // later.
  ModelLoader(boost::asio::io_context& io, Load load, const Log& log, ServerMetrics& metrics, bool any_kind);
  ModelLoader(const ModelLoader&) = delete;
  ModelLoader& operator=(const ModelLoader&) = delete;

  const std::shared_ptr<const ServedModel>& model() const { return model_; }
  // Loads a new model while the current one serves; a request during loading loads once more afterwards. On
  // failure the current model stays.
  void reload();
  // Whether a reload is under way; the destructor waits for its end.
  bool loading() const { return loading_; }
  // Starts no further reloads.
  void stop() { stopped_ = true; }

 private:
  std::shared_ptr<const ServedModel> load_next() const;
  void take(const std::shared_ptr<const ServedModel>& loaded, const std::exception_ptr& fault);

  boost::asio::io_context& io_;
  const Load load_;
  const Log& log_;
  ServerMetrics& metrics_;
  const bool any_kind_;
  std::string kind_;  // of the first model
  std::shared_ptr<const ServedModel> model_;
  bool loading_ = false, load_again_ = false, stopped_ = false;
  WorkerThreads thread_;  // last: it ends first
};

}  // namespace slide::serve
