#!/usr/bin/env bash
# datasets/fetch.sh NAME...: downloads from two collections into datasets/fetched/, ready for spmv, bfs and info.
#   GROUP/NAME   a matrix of the SuiteSparse collection, as HB/bcsstk13: fetched/bcsstk13.mtx (https://sparse.tamu.edu)
#   NAME         a graph of SNAP, as wiki-Vote: fetched/wiki-Vote.txt.gz (https://snap.stanford.edu/data)
#   --list       the names whose checksums are known
# A download gets its name once it is whole and checked; a failure leaves nothing behind. A first download of a file
# without a known checksum is unverified, and said to be; its checksum is then kept, and a later one must match.
# SPARGO_SUITESPARSE_URL and SPARGO_SNAP_URL name mirrors.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
suitesparse=${SPARGO_SUITESPARSE_URL:-https://suitesparse-collection-website.herokuapp.com/MM}
snap=${SPARGO_SNAP_URL:-https://snap.stanford.edu/data}
folder=${SPARGO_FETCH_FOLDER:-fetched}

usage() { sed -n '2,/^set/{/^set/d;s/^# \{0,1\}//;p}' "$(basename "$0")"; }
die() { echo "fetch.sh: $*" >&2; exit 1; }

download() {  # URL FILE
  if command -v curl > /dev/null; then
    curl --fail --silent --show-error --location --connect-timeout 20 --retry 2 --output "$2" "$1" 2> "$2.error" && return
  elif command -v wget > /dev/null; then
    wget --no-verbose --timeout 20 --tries 3 -O "$2" "$1" 2> "$2.error" && return
  else
    die "curl or wget is needed, and there is neither"
  fi
  die "cannot download $1: $(tr '\n' ' ' < "$2.error")"
}

# check NAME FILE: compares the content's SHA-256 (of the text, so that recompression does not matter).
check() {
  local name=$1 sum known
  sum=$(case $2 in *.gz) gzip -dc "$2" ;; *) cat "$2" ;; esac | sha256sum | cut -d' ' -f1)
  known=$(awk -v name="$name" '$2 == name {print $1; exit}' "$folder/checksums.txt" 2> /dev/null || true)
  if [ -n "$known" ]; then
    [ "$sum" = "$known" ] || die "$name: SHA-256 is $sum, but an earlier download had $known (remove its line from datasets/$folder/checksums.txt to accept this one)"
    echo "$name: as downloaded before"
  elif [ "$(awk -v name="$name" '$2 == name {print $1}' checksums.txt)" = "$sum" ]; then
    echo "$name: verified, SHA-256 $sum"
  else
    echo "$name: unverified, SHA-256 $sum" >&2
  fi
  if [ -z "$known" ]; then echo "$sum  $name" >> "$folder/checksums.txt"; fi
}

fetch() {
  local name=$1 base=${1##*/} file
  [[ $name =~ ^[A-Za-z0-9_.+-]+(/[A-Za-z0-9_.+-]+)?$ && $name != *..* && $name != -* ]] \
    || die "'$name' is neither GROUP/NAME (SuiteSparse) nor NAME (SNAP)"
  case $name in
    */*) file=$base.mtx ;;
    *) file=$base.txt.gz ;;
  esac
  if [ -e "$folder/$file" ]; then echo "$name: datasets/$folder/$file is there already"; return; fi
  if [ "$file" = "$base.mtx" ]; then
    download "$suitesparse/$name.tar.gz" "$part/archive"
    tar -xzf "$part/archive" -C "$part" "$base/$file" 2> /dev/null || die "$name: the download is no archive with $base/$file"
    mv "$part/$base/$file" "$part/$file"
  else
    download "$snap/$file" "$part/$file"
    gzip -t "$part/$file" 2> /dev/null || die "$name: the download is not gzip, or truncated"
  fi
  check "$name" "$part/$file"
  mv "$part/$file" "$folder/$file"
  echo "datasets/$folder/$file"
}

[ $# -gt 0 ] || { usage >&2; exit 2; }
case $1 in
  -h | --help) usage; exit 0 ;;
  --list) awk '!/^#/ {print $2}' checksums.txt; exit 0 ;;
esac
mkdir -p "$folder"
part=$(mktemp -d "$folder/.part.XXXXXX")
trap 'rm -rf "$part"; rmdir "$folder" 2> /dev/null || true' EXIT
trap 'exit 130' INT TERM
for name in "$@"; do fetch "$name"; done
