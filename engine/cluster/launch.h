// How this process was started, as launchers of MPI tell it in the environment.
#pragma once

namespace slide {

// How many processes were started together, this one included: 1 where no launcher is behind it, 0 where
// there is one that does not tell. Known are mpirun of Open MPI, MPICH and its kin, and srun of Slurm, which
// counts only where it also offers a process manager: processes that could not find each other are each for
// themselves.
int launched_processes();

// Which of them this one is, from 0; 0 also where there is no launcher, or it does not tell.
int launched_rank();

}  // namespace slide
