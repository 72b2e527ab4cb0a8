#!/bin/bash
#SBATCH --job-name=sweep
#SBATCH --ntasks=64
#SBATCH --output=sweep-%j.log
# A study by MPI: rank 0 hands points out as they are asked for and writes the database, the others answer. Needs a
# tilesim that was built where mpicc is. As a job of Slurm, or by hand:
#
#   sbatch examples/cluster/mpirun.sh study.yaml
#   RANKS=4 examples/cluster/mpirun.sh study.yaml
#
# When a rank dies, mpirun ends the job: submitted again, it goes on with what is not in the database.
set -eu
mpirun ${RANKS:+-n "$RANKS"} tilesim sweep "$1" --rows 1
