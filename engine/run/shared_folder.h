// Whether the processes of a run have one folder: they write models and checkpoints together.
#pragma once

#include <filesystem>

#include "engine/cluster/cluster.h"

namespace slide {

// Rank 0 writes a file into `folder`, and every rank opens it for writing; it is removed afterwards. A rank
// waits 5 s for it, since NFS clients cache attributes. Throws InputError on every rank where one cannot open
// it, Error where rank 0 cannot write it. Without the folder, rank 0 creates it for the time of the call if
// `create`, else returns at once. Collective.
void require_shared_folder(Cluster& cluster, const std::filesystem::path& folder, bool create);

}  // namespace slide
