#!/usr/bin/env bash
# reuse.sh BUILD FOLDER COMPILER ARGUMENTS...: a compiler launcher for Spargo in another build, which has its objects in
# FOLDER. An object or a precompiled header that BUILD, a build with Ninja, has made by the same command, apart from the
# folder, is copied; anything else is compiled, as is what the file `not_reused` in this build lists.
set -euo pipefail
build=$1 folder=$2
shift 2

# The words of a command from the compiler on, as BUILD would write them, without the names of what it writes.
words_of() {
  while [ "${1##*/}" != "$compiler" ]; do shift; done
  shift
  while [ $# -gt 0 ]; do
    case $1 in
      -MD) ;;
      -MT | -MF | -o) shift ;;
      *) printf '%s\n' "${1//$folder/$build}" ;;
    esac
    shift
  done
}
object='' before=''
for word; do
  if [ "$before" = -o ]; then object=$word; fi
  before=$word
done
inside=${folder#"$PWD"}  # how the names of its objects begin
inside=${inside:+${inside#/}/}
twin=${object#"$inside"}
if grep -qsxF -- "$twin" not_reused; then
  :
elif [ "$inside$twin" = "$object" ] && [ -f "$build/$twin" ] && [[ $twin = *.o || $twin = *.gch ]]; then
  compiler=${1##*/}
  command=()
  eval "command=($(ninja -C "$build" -t commands -s "$twin"))"
  if [ "$(words_of "$@")" = "$(words_of "${command[@]}")" ]; then
    cp "$build/$twin" "$object"
    echo "$object" >> "$PWD/reused"
    exit
  fi
fi
if command -v ccache > /dev/null; then exec ccache "$@"; fi
exec "$@"
