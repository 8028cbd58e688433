// What is asked for of users whose items are known: samples whose features are known items and whose labels
// are others of the same user. Pure functions, safe from any thread; all data are copied.
#pragma once

#include "datasets/dataset.h"
#include "datasets/interactions.h"

namespace slide {

// A sample for each row of `asked`: its labels, less those that the same user has in `known`, and for
// features what it has there; none where the user is not there. Samples without labels stay. Both were read
// with the same items.
Dataset held_out_samples(const Dataset& asked, const LogUsers& asked_users, const Dataset& known,
                         const LogUsers& known_users);

// The users of a log apart from the newest item of each who has two or more: those items are the labels of
// `newest`, whose features are the others, and `rest` is the log without them. Values of features keep unit
// length with `normalize`.
struct NewestApart {
  Dataset rest;
  Dataset newest;
};
NewestApart newest_apart(const Dataset& log, const LogUsers& users, bool normalize);

}  // namespace slide
