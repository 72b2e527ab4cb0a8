#!/bin/bash
#SBATCH --job-name=sweep
#SBATCH --array=1-8
#SBATCH --cpus-per-task=1
#SBATCH --output=sweep-%A_%a.log
# A study as an array of jobs, each a part with a database of its own:
#
#   sbatch examples/cluster/slurm_array.sh study.yaml
#   tilesim sweep --merge study.db study.*-of-8.db       # when all are done
#
# A part that was ended, or that is submitted again, goes on where it was.
set -eu
tilesim sweep "$1" --shard "$SLURM_ARRAY_TASK_ID/${SLURM_ARRAY_TASK_COUNT:-$SLURM_ARRAY_TASK_MAX}" \
    -j "${SLURM_CPUS_PER_TASK:-1}" --rows 1
