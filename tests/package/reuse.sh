#!/usr/bin/env bash
# reuse.sh BUILD SUBPROJECT COMPILER ARGUMENTS...: a compiler launcher for Spargo as a part of another project, in the
# folder SUBPROJECT. An object that BUILD, a build with Ninja, has made by the same command, apart from the folder, is
# copied; anything else is compiled.
set -euo pipefail
build=$1 subproject=$2
shift 2

# The words of a command from the compiler on, as BUILD would write them, without the names of what it writes.
words_of() {
  while [ "${1##*/}" != "$compiler" ]; do shift; done
  shift
  while [ $# -gt 0 ]; do
    case $1 in
      -MD) ;;
      -MT | -MF | -o) shift ;;
      *) printf '%s\n' "${1//$subproject\/spargo/$build}" ;;
    esac
    shift
  done
}
object='' before=''
for word; do
  if [ "$before" = -o ]; then object=$word; fi
  before=$word
done
twin=${object#spargo/}
if [ "$twin" != "$object" ] && [ -f "$build/$twin" ] && [ "${twin##*.}" = o ]; then
  compiler=${1##*/}
  command=()
  eval "command=($(ninja -C "$build" -t commands -s "$twin"))"
  if [ "$(words_of "$@")" = "$(words_of "${command[@]}")" ]; then
    cp "$build/$twin" "$object"
    echo "$object" >> "$subproject/../reused"
    exit
  fi
fi
exec "$@"
