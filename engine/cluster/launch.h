// How this process was launched, from the environment variables of MPI launchers.
#pragma once

namespace slide {

// Number of processes launched together: 1 without a launcher, 0 with a launcher that does not set the
// number. Recognises mpirun of Open MPI, MPICH and its derivatives, and srun of Slurm, the last only with a
// process manager: without it, processes cannot find each other and run independently.
int launched_processes();

// Rank of this process, from 0; 0 also without a launcher, or with one that does not set the rank.
int launched_rank();

}  // namespace slide
