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
# A part that was ended goes on where it was; alone it is told how many parts there are:
#
#   sbatch --array=3 examples/cluster/slurm_array.sh study.yaml 8
set -eu
study=$1 parts=${2:-$SLURM_ARRAY_TASK_COUNT}
tilesim sweep "$study" --shard "$SLURM_ARRAY_TASK_ID/$parts" -j "${SLURM_CPUS_PER_TASK:-1}" --rows 1
