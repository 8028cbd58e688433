// SharedFile over MPI-IO. Part of the plug-in. One thread at a time.
#pragma once

#include <mpi.h>

#include <string>

#include "engine/cluster/mpi_link.h"

namespace slide {

class MpiFile final : public SharedFile {
 public:
  // Collective. `link` must outlive this object. Rank 0 creates the file, the others wait up to 5 s until
  // they can open it (NFS clients cache attributes), and only then MPI opens it: where one rank has no such
  // file, MPI would wait for it forever.
  MpiFile(MpiLink& link, const std::string& path);
  void write_at(std::uint64_t offset, std::span<const std::byte> bytes) override;
  void close() override;

 private:
  void create_and_agree();
  void write_piece(std::uint64_t offset, const std::byte* bytes, int count);
  void note(const char* what, int code);

  MpiLink& link_;
  std::string path_;
  MPI_File file_ = MPI_FILE_NULL;
  std::string reason_;  // first failure; empty before
};

}  // namespace slide
