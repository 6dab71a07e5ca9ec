#!/usr/bin/env bash
# Prints what a build has spent its time on, by ninja's log: seconds of the objects of each folder, then the slowest
# objects. An object counts once, with its latest compilation; one that came from ccache counts for what that took, so
# measure with CCACHE_DISABLE=1 and on an idle machine.
#   bash tests/compile_times.sh [options] [FOLDER]   a build folder (default build)
#   --top N        objects listed (default 15)
#   --match REGEX  only objects whose paths match
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

build=build top=15 match=.
while [ $# -gt 0 ]; do
  case $1 in
    --top) top=${2:?--top needs a number}; shift ;;
    --match) match=${2:?--match needs a regular expression}; shift ;;
    -h | --help) sed -n '2,/^set/{/^set/d;s/^# \{0,1\}//;p}' "$0"; exit 0 ;;
    -*) echo "compile_times.sh: unknown argument '$1' (see --help)" >&2; exit 2 ;;
    *) build=$1 ;;
  esac
  shift
done
log=$build/.ninja_log
if [ ! -f "$log" ]; then
  echo "compile_times.sh: no $log (a build by Ninja writes it)" >&2
  exit 1
fi

# Columns: start and end in milliseconds, time stamp, output, hash of the command. Later lines replace earlier ones.
objects=$(awk -F '\t' -v match_paths="$match" '
  NF >= 5 && $4 ~ /\.(o|gch)$/ && $4 ~ match_paths { seconds[$4] = ($2 - $1) / 1000 }
  END { for (o in seconds) { path = o; sub(/CMakeFiles\/[^\/]*\.dir\//, "", path); print seconds[o], path } }' "$log" |
  sort -k 1,1nr)
if [ -z "$objects" ]; then
  echo "compile_times.sh: $log has no such objects"
  exit 0
fi
awk '{ split($2, part, "/"); sum[part[1]] += $1; count[part[1]]++; all += $1 }
  END { for (p in sum) printf "%8.1f s  %4d objects  %s\n", sum[p], count[p], p
        printf "%8.1f s  %4d objects\n", all, NR }' <<< "$objects" | sort -nr
echo
head -n "$top" <<< "$objects" | awk '{ printf "%8.1f s  %s\n", $1, $2 }'
