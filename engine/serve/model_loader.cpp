#include "engine/serve/model_loader.h"

#include <fmt/format.h>

#include <boost/asio/post.hpp>
#include <new>
#include <semaphore>
#include <utility>

#include "engine/base/error.h"
#include "engine/serve/post_patiently.h"

namespace slide::serve {

namespace asio = boost::asio;

// Loads the first model on the loader's thread, as all later ones, and waits for it.
ModelLoader::ModelLoader(asio::io_context& io, Load load, const Log& log, ServerMetrics& metrics,
                         bool any_kind)
    : io_(io),
      load_(std::move(load)),
      log_(log),
      metrics_(metrics),
      any_kind_(any_kind),
      thread_(1, "raise the limits of memory and processes (ulimit -v, -u)") {
  std::exception_ptr fault;
  std::binary_semaphore done(0);
  asio::post(thread_.queue(), [&] {
    try {
      model_ = load_();
    } catch (const std::exception&) {
      fault = std::current_exception();
    }
    done.release();
  });
  done.acquire();
  if (fault) std::rethrow_exception(fault);
  kind_ = model_->kind();
}

std::shared_ptr<const ServedModel> ModelLoader::load_next() const {
  auto loaded = load_();
  if (!any_kind_ && loaded->kind() != kind_)
    fail_input(
        "{}: the model takes {}, the one before {}; restart the server, with --any-kind reloads may change "
        "that",
        loaded->path(), loaded->kind(), kind_);
  return loaded;
}

// Loads on a thread of its own; the model before answers until then. Further calls meanwhile load once more.
void ModelLoader::reload() {
  load_again_ = loading_;
  if (loading_) return log_("reload", "a reload is under way; the model is loaded once more after it");
  asio::post(thread_.queue(), [this] {
    std::shared_ptr<const ServedModel> loaded;
    std::exception_ptr fault;
    try {
      loaded = load_next();
    } catch (const std::exception&) {
      fault = std::current_exception();
    }
    post_patiently(io_, [this, loaded, fault] { take(loaded, fault); });
  });
  loading_ = true;
}

// Ends a reload on the thread of `io`: replaces the model unless loading failed, and begins a reload asked
// for meanwhile.
void ModelLoader::take(const std::shared_ptr<const ServedModel>& loaded, const std::exception_ptr& fault) {
  loading_ = false;
  metrics_.add_reload(loaded != nullptr);
  if (loaded != nullptr) model_ = loaded;
  if (std::exchange(load_again_, false) && !stopped_) reload();
  try {
    if (fault) std::rethrow_exception(fault);
    log_("reload", fmt::format("reloaded {} ({}) in {:.2f} s", loaded->path(), loaded->fingerprint(),
                               loaded->load_seconds()));
  } catch (const std::bad_alloc&) {
    if (loaded != nullptr) return log_("reload", "reloaded");
    log_("warning", "reload failed, the model before stays: out of memory");
  } catch (const std::exception& error) {
    log_("warning", fmt::format("reload failed, the model before stays: {}", error.what()));
  }
}

}  // namespace slide::serve
