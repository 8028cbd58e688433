// Changes of a registry (engine/model/registry.h): each happens whole or not at all, with its line in the
// log, whenever the program is killed; changes by several processes happen one after the other.
#pragma once

#include <string>

#include "engine/model/registry.h"

namespace slide {

// A change of the registry, and the current model after it.
struct RegistryResult {
  std::string name;     // of the model
  std::string before;   // that was current before; empty: none
  std::string current;  // now
};

// Copies `model`, a model file or a folder that stands for one, into `folder`, which is made where it is
// missing. `name`: of the copy; empty: the name of the file or folder. The first model becomes the current
// one. Throws InputError where `model` is no model or damaged, the name is taken or no name for a file, or
// `folder` is the folder of a run; Error where the copy cannot be written. O(bytes), in constant memory.
RegistryResult add_model(const std::string& folder, const std::string& model, const std::string& name = "");

// Makes a model of the folder current. Throws InputError where there is none of that name, or it is damaged.
// No change where it is current already. O(bytes): the file is verified.
RegistryResult use_model(const std::string& folder, const std::string& name);

// Makes the model current that was before the current one: each call undoes one use_model(). Throws
// InputError where there is none, or it is gone or damaged. O(bytes).
RegistryResult rollback_model(const std::string& folder);

}  // namespace slide
