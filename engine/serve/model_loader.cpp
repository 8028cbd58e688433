#include "engine/serve/model_loader.h"

#include <fmt/format.h>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_future.hpp>
#include <exception>
#include <functional>
#include <string>
#include <utility>

#include "engine/serve/signals_blocked.h"

namespace slide::serve {

namespace asio = boost::asio;

ModelLoader::ModelLoader(asio::io_context& io, Load load, const Log& log, ServerMetrics& metrics)
    : io_(io), load_(std::move(load)), log_(log), metrics_(metrics) {
  {
    const SignalsBlocked blocked;
    thread_.emplace(1);
  }
  model_ = asio::post(*thread_, asio::use_future(std::cref(load_))).get();
}

void ModelLoader::reload() {
  load_again_ = loading_;
  if (loading_) return;
  loading_ = true;
  asio::post(*thread_, [this, work = asio::make_work_guard(io_)] {
    std::shared_ptr<const ServedModel> loaded;
    std::string fault;
    try {
      loaded = load_();
    } catch (const std::exception& error) {
      fault = error.what();
    }
    asio::post(io_, [this, loaded = std::move(loaded), fault = std::move(fault)]() mutable {
      take(std::move(loaded), fault);
    });
  });
}

void ModelLoader::take(std::shared_ptr<const ServedModel> loaded, const std::string& fault) {
  metrics_.add_reload(loaded != nullptr);
  if (loaded != nullptr) {
    log_(fmt::format("reloaded {} ({}) in {:.2f} s", loaded->path(), loaded->fingerprint(),
                     loaded->load_seconds()));
    model_ = std::move(loaded);
  } else {
    log_(fmt::format("reload failed, the model before stays: {}", fault));
  }
  loading_ = false;
  if (std::exchange(load_again_, false) && !stopped_) reload();
}

}  // namespace slide::serve
