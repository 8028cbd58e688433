#include "engine/run/registry_changes.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <ctime>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <vector>

#include "datasets/rows/file_bytes.h"
#include "engine/base/atomic_file.h"
#include "engine/base/byte_io.h"
#include "engine/base/descriptor.h"
#include "engine/base/error.h"
#include "engine/base/foreign_text.h"
#include "engine/model/model_file.h"
#include "engine/model/run_paths.h"
#include "engine/run/machine.h"
#include "engine/run/users_log.h"

namespace slide {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t kCopiedAtOnce = std::size_t{1} << 20;  // bytes
constexpr std::size_t kMaxModelName = 100;
constexpr std::uintmax_t kMaxConfiguration = std::uintmax_t{1} << 24;  // bytes

// Excludes other processes that change the folder, during its lifetime; not where the file system has no
// locks.
Descriptor locked_registry(const std::string& folder) {
  Descriptor lock(open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  while (lock.is_open() && flock(lock.get(), LOCK_EX) != 0 && errno == EINTR) {
  }
  return lock;
}

void refuse_run(const std::string& folder) {
  std::error_code ignored;
  if (is_registry(folder) || !fs::exists(RunPaths(folder).config(), ignored)) return;
  fail_input("{}: this is the folder of a run; give the registry of models a folder of its own", folder);
}

void require_registry(const std::string& folder) {
  refuse_run(folder);
  if (!is_registry(folder) && registry_names(folder).empty())
    fail_input("{}: this is no folder of models; begin one: slide models add {} MODEL", folder, folder);
}

// The name without ".slide". Throws InputError where it cannot be one.
std::string checked_model_name(std::string name) {
  constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-";
  if (name.ends_with(".slide")) name.resize(name.size() - std::string_view(".slide").size());
  const bool plain = !name.empty() && name.size() <= kMaxModelName && !name.starts_with('.') &&
                     !name.starts_with('-') && name.find_first_not_of(kLetters) == std::string::npos;
  if (!plain) {
    fail_input(
        "'{}' is no name of a model; give one of up to {} letters, digits, '.', '_' and '-' that begins with "
        "a letter, a digit or '_'",
        shown_part(name), kMaxModelName);
  }
  return name;
}

// The name of a file, of the folder of a run, or of the current model of a registry.
std::string name_of_model(const std::string& model) {
  std::error_code ignored;
  if (!fs::is_directory(model, ignored)) return fs::path(model).filename().string();
  if (is_registry(model)) return read_registry(model).current();
  const fs::path folder = fs::absolute(model).lexically_normal();
  return (folder.has_filename() ? folder : folder.parent_path()).filename().string();
}

std::string names_there(const std::string& folder) {
  std::string all;
  for (const std::string& name : registry_names(folder)) all += (all.empty() ? "" : ", ") + name;
  return all.empty() ? "none" : all;
}

void copy_bytes(const ModelInput& from, const std::string& path, AtomicFile& to) {
  std::vector<char> piece(kCopiedAtOnce);
  for (std::uint64_t at = 0; at < from.bytes;) {
    const ssize_t got = read_at(from.file.get(), piece.data(), piece.size(), at);
    if (got <= 0) fail_input("{}: cannot be read to its end; check the file and its disk", path);
    to.write({piece.data(), static_cast<std::size_t>(got)});
    at += static_cast<std::uint64_t>(got);
  }
}

// Keeps the configuration of the model's run beside the copy; none where it has none.
void copy_configuration(const std::string& model, const std::string& copy) {
  const std::string to = kept_config(copy), from = run_config_of(model_at(model));
  std::error_code ignored;
  if (from.empty() || fs::file_size(from, ignored) > kMaxConfiguration) {
    fs::remove(to, ignored);
    return;
  }
  const FileBytes bytes(from);
  write_file(to, bytes.text());
}

// Copies the model file and verifies the copy, not the file: the file may change meanwhile.
void copy_model(const std::string& model, AtomicFile& to) {
  const std::string path = model_at(model);
  const ModelInput input = open_model_input(path);
  open_model({Descriptor(dup(input.file.get())), input.bytes}, path);
  copy_bytes(input, path, to);
  open_model({Descriptor(dup(to.descriptor())), input.bytes}, path).in->finish();
}

void log_change(Registry& registry, const std::string& action, const std::string& from,
                const std::string& to) {
  registry.take({utc_text(std::time(nullptr)), action, from, to});
}

// Logs a switch to `name`, whose file is verified.
RegistryResult switch_to(const std::string& folder, Registry& registry, const std::string& action,
                         const std::string& name) {
  const std::string from = registry.current();
  check_model_file(registry_file(folder, name));
  log_change(registry, action, from, name);
  AtomicFile log(registry_log(folder), FileUse::kOwn);
  log.write(registry_text(registry));
  log.finish();
  return {name, from, name};
}

}  // namespace

// Copies the model before it locks the registry, since that may take long, and then checks the name again.
RegistryResult add_model(const std::string& folder, const std::string& model, const std::string& name) {
  refuse_run(folder);
  const std::string called = checked_model_name(name.empty() ? name_of_model(model) : name);
  const std::string file = registry_file(folder, called);
  const auto require_free = [&] {
    std::error_code ignored;
    if (!fs::exists(fs::symlink_status(file, ignored))) return;
    fail_input("{}: a model of the name {} is there; give this one another --name", folder, called);
  };
  require_free();
  require_regular_model(model_at(model));
  check_model_file(model);
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) fail_input("{}: the folder cannot be made ({}); give another", folder, error.message());
  AtomicFile copy(file, FileUse::kOwn);
  copy_model(model, copy);
  const Descriptor lock = locked_registry(folder);
  require_free();
  Registry registry = read_registry(folder);
  const std::string before = registry.current();
  copy_configuration(model, file);
  log_change(registry, "add", fs::absolute(model_at(model)).lexically_normal().string(), called);
  if (before.empty()) log_change(registry, "use", before, called);
  AtomicFile log(registry_log(folder), FileUse::kOwn);
  log.write(registry_text(registry));
  AtomicFile::finish(copy, log);
  return {called, before, registry.current()};
}

RegistryResult use_model(const std::string& folder, const std::string& name) {
  require_registry(folder);
  const std::string called = checked_model_name(name);
  const Descriptor lock = locked_registry(folder);
  Registry registry = read_registry(folder);
  std::error_code ignored;
  if (!fs::exists(registry_file(folder, called), ignored))
    fail_input("{}: there is no model {}; there are: {}", folder, called, names_there(folder));
  if (called != registry.current()) return switch_to(folder, registry, "use", called);
  check_model_file(registry_file(folder, called));
  return {called, called, called};
}

RegistryResult rollback_model(const std::string& folder) {
  require_registry(folder);
  const Descriptor lock = locked_registry(folder);
  Registry registry = read_registry(folder);
  const std::string before = registry.before();
  if (before.empty())
    fail_input("{}: no model was current before {}; choose one: slide models use {} NAME", folder,
               registry.current().empty() ? "this" : registry.current(), folder);
  std::error_code ignored;
  if (!fs::exists(registry_file(folder, before), ignored))
    fail_input("{}: the model before, {}, is gone; choose one: slide models use {} NAME", folder, before,
               folder);
  return switch_to(folder, registry, "rollback", before);
}

}  // namespace slide
