#include <slide/data.h>
#include <slide/model.h>

#include <utility>

#include "datasets/reader.h"
#include "datasets/rows/data_parts.h"
#include "engine/api/arguments.h"
#include "engine/api/internals.h"
#include "engine/run/interaction_data.h"
#include "engine/run/run_data.h"
#include "engine/run/users_log.h"

namespace slide::api {

namespace {

std::string log_for(const slide::Model& model, const std::string& path) {
  if (model.config.data.kind != DataKind::kInteractions)
    fail_input("the model was not trained on interactions, so that it knows no users");
  const std::string log = path.empty() ? users_log(model) : checked_path(path);
  if (const auto missing = missing_part(log))
    fail_input("{}: there is no such file; name the log of what users have", *missing);
  return expanded(log);
}

}  // namespace

KnownUsers::Impl::Impl(std::shared_ptr<const Model::Impl> of, const std::string& log)
    : model(std::move(of)),
      path(log_for(model->model, log)),
      users(path, model_read_options(model->model, 0)) {}

KnownUsers::KnownUsers(std::shared_ptr<const Impl> impl) : impl_(std::move(impl)) {}

KnownUsers KnownUsers::read(const Model& model, const std::string& path) {
  return guarded([&] { return KnownUsers(std::make_shared<const Impl>(Internals::of(model), path)); });
}

std::size_t KnownUsers::size() const {
  return impl_->users.size();
}

bool KnownUsers::has(std::string_view user) const {
  return impl_->users.has(user);
}

std::string KnownUsers::user_name(std::size_t user) const {
  if (user >= size()) fail_input("there is no user {}; there are {}, counted from 0", user, size());
  return std::string(impl_->users.users().name(user));
}

Data KnownUsers::samples(const std::vector<std::string_view>& users) const {
  return guarded([&] {
    const slide::Model& model = impl_->model->model;
    const auto names = std::make_shared<NameList>();
    UserRows rows(model.config.data.normalize);
    Items items;
    for (const std::string_view user : users) {
      items.clear();
      impl_->users.add_items_of(user, items);
      rows.add(items);
      names->add(user);
    }
    Data::Impl impl;
    if (rows.without_items() > 0)
      impl.warnings.push_back(users_without_items("the users", rows.without_items(), users.size()));
    impl.rows = rows.take(model.text->feature_count(), model.text->label_count());
    impl.users = names;
    impl.reading = Reading{model.config.data, model.text};
    return Internals::make<Data>(std::move(impl));
  });
}

Data KnownUsers::held_out(const std::string& path) const {
  return guarded([&] {
    checked_path(path);
    const slide::Model& model = impl_->model->model;
    const auto unknown = std::make_shared<UnknownLabels>();
    ReadOptions options = model_read_options(model, 0);
    ReadReport report;
    options.report = &report;
    options.unknown_labels = unknown.get();
    HeldOutUsers held_out;
    read_held_out([&](const ReadOptions& reading) { return read_dataset(expanded(path), reading); },
                  impl_->path, options, held_out);
    Data::Impl impl;
    impl.rows = std::move(held_out.rows);
    impl.users = std::make_shared<const NameList>(std::move(held_out.users));
    impl.warnings = std::move(report.warnings);
    impl.reading = Reading{model.config.data, model.text, unknown, report.unknown_features};
    return Internals::make<Data>(std::move(impl));
  });
}

std::string Data::user_name(std::size_t sample) const {
  if (impl_->users == nullptr) fail_input("the samples have no users: they are of no log of interactions");
  if (sample >= impl_->users->size())
    fail_input("there is no sample {}; there are {}, counted from 0", sample, impl_->users->size());
  return std::string((*impl_->users)[sample]);
}

}  // namespace slide::api
