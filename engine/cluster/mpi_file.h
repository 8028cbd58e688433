// A SharedFile by MPI-IO, in the MPI plug-in. One thread at a time.
#pragma once

#include <mpi.h>

#include <string>

#include "engine/cluster/mpi_link.h"

namespace slide {

class MpiFile final : public SharedFile {
 public:
  // Collective. `link` must outlive this object. Rank 0 creates the file. The other ranks then try for up to
  // 5 s to open it: NFS clients cache attributes. MPI opens it last, since MPI waits forever where a rank has
  // no such file. Throws Error on all ranks where one of them fails.
  MpiFile(MpiLink& link, const std::string& path);
  void write_at(std::uint64_t offset, std::span<const std::byte> bytes) override;
  void close() override;

 private:
  void create_on_all_ranks();
  void write_piece(std::uint64_t offset, const std::byte* bytes, int count);
  void keep_failure(const char* what, int code);

  MpiLink& link_;
  std::string path_;
  MPI_File file_ = MPI_FILE_NULL;
  std::string reason_;  // first failure; empty before
};

}  // namespace slide
