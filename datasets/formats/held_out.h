// Samples for evaluating recommendations: features are known (input) items of a user, labels are other
// (target) items of the same user. Pure functions, safe from any thread; results are copies.
#pragma once

#include "datasets/formats/log_users.h"
#include "datasets/rows/dataset.h"

namespace slide {

// A sample per row of `asked`: its labels without the items that the user has in `known`, with the user's
// items in `known` as features (none for an unknown user). Samples without labels stay. Both data sets use
// the same item ids.
Dataset held_out_samples(const Dataset& asked, const LogUsers& asked_users, const Dataset& known,
                         const LogUsers& known_users);

// Splits a log by LogUsers::held_out(): `test` has a sample for each user with held-out items: the labels are
// the held-out items, the features are the user's other items. `rest` is the log without held-out items. With
// `normalize`, features keep unit length. Without `whole_users`, users whose items are all held out stay in
// `rest` with all their items.
struct HeldOutApart {
  Dataset rest;
  Dataset test;
};
HeldOutApart held_out_apart(const Dataset& log, const LogUsers& users, bool normalize, bool whole_users);

}  // namespace slide
