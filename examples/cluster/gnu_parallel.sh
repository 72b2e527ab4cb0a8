#!/bin/bash
# A study in parts on hosts that share a folder, by GNU parallel; without a list of hosts, on this one:
#
#   examples/cluster/gnu_parallel.sh study.yaml 8 [hosts.txt]
set -eu
study=$1 parts=$2
name=$(basename "${study%.*}")
parallel ${3:+--sshloginfile "$3" --workdir "$PWD"} \
    tilesim sweep "$study" --shard "{}/$parts" --rows 1 ::: $(seq "$parts")
tilesim sweep --merge "$name.db" "$name".*-of-"$parts".db
