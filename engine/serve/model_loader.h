// The model that is served and the thread that loads another in its place. Functions are called on the thread
// of `io`; the one before stays whole for whoever still holds it. Internal to the server.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/thread_pool.hpp>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "engine/serve/served_model.h"
#include "engine/serve/server_metrics.h"

namespace slide::serve {

class ModelLoader {
 public:
  using Load = std::function<std::shared_ptr<const ServedModel>()>;
  using Log = std::function<void(std::string_view line)>;

  // Loads the first model, on its own thread, and throws what `load` throws. `log` and `metrics` are told of
  // reloads and must outlive it.
  ModelLoader(boost::asio::io_context& io, Load load, const Log& log, ServerMetrics& metrics);
  ~ModelLoader() { thread_->join(); }
  ModelLoader(const ModelLoader&) = delete;
  ModelLoader& operator=(const ModelLoader&) = delete;

  const std::shared_ptr<const ServedModel>& model() const { return model_; }
  // Loads beside the model that is served; asked for meanwhile, it loads once more. When that fails, the
  // model before stays.
  void reload();
  // No reload begins any more.
  void stop() { stopped_ = true; }

 private:
  void take(const std::shared_ptr<const ServedModel>& loaded, const std::exception_ptr& fault);

  boost::asio::io_context& io_;
  const Load load_;
  const Log& log_;
  ServerMetrics& metrics_;
  std::shared_ptr<const ServedModel> model_;
  bool loading_ = false, load_again_ = false, stopped_ = false;
  std::optional<boost::asio::thread_pool> thread_;
};

}  // namespace slide::serve
