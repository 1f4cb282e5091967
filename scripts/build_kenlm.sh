#!/usr/bin/env bash
# Build KenLM's lmplz, which estimates the 5-gram row of the language-modelling table, and put it beside this project's Python.
#
#   scripts/build_kenlm.sh              build; says which packages are missing
#   scripts/build_kenlm.sh --apt        install what is missing with apt-get first (Debian, Ubuntu; as root)
#   scripts/build_kenlm.sh --to FOLDER  put lmplz into FOLDER instead of .venv/bin
#
# The source is the PyPI package of KenLM, whose wheels hold the reader only; it is checked by its hash. Without lmplz the table's 5-gram
# comes from VariKN (pip install 'entitynlm[ngram]'), and the table says so.
set -euo pipefail

version=0.3.0
sha256=c4628bb9fb63c8a6f9240035b8b037385cfc404cb72e933cf48878291edac1e8
packages=(g++ make cmake zlib1g-dev libbz2-dev liblzma-dev
    libboost-program-options-dev libboost-system-dev libboost-thread-dev libboost-test-dev)

project=$(cd "$(dirname "$0")/.." && pwd)
python=$project/.venv/bin/python
target=$project/.venv/bin
use_apt=no
while [ $# -gt 0 ]; do
    case $1 in
    --apt) use_apt=yes ;;
    --to)
        target=${2:?--to wants a folder}
        shift
        ;;
    -h | --help)
        sed -n '2,9s/^# \{0,1\}//p' "$0"
        exit 0
        ;;
    *)
        echo "error: there is no option '$1' (see --help)" >&2
        exit 2
        ;;
    esac
    shift
done

if [ -x "$target/lmplz" ]; then
    echo "lmplz is there already: $target/lmplz"
    exit 0
fi
[ -x "$python" ] || python=python3
if [ $use_apt = yes ]; then
    apt-get update -qq && apt-get install -y -qq --no-install-recommends "${packages[@]}"
fi
for tool in c++ make cmake; do
    if ! command -v "$tool" >/dev/null; then
        echo "error: '$tool' is needed; on Debian: apt-get install ${packages[*]}" >&2
        exit 1
    fi
done

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
echo "── fetching KenLM $version"
"$python" -m pip download --quiet --disable-pip-version-check --no-deps --no-binary kenlm --dest "$work" "kenlm==$version"
archive=$work/kenlm-$version.tar.gz
if ! echo "$sha256  $archive" | sha256sum --check --quiet; then
    echo "error: $archive is not the KenLM $version that this script knows" >&2
    exit 1
fi
tar -xzf "$archive" -C "$work"
echo "── building lmplz (a few minutes)"
if ! cmake -S "$work/kenlm-$version" -B "$work/build" -DCMAKE_BUILD_TYPE=Release >"$work/cmake.log" 2>&1; then
    tail -n 15 "$work/cmake.log" >&2
    echo "error: cmake found something missing; on Debian: apt-get install ${packages[*]}" >&2
    exit 1
fi
if ! cmake --build "$work/build" --target lmplz >"$work/make.log" 2>&1; then
    tail -n 15 "$work/make.log" >&2
    echo "error: the build failed" >&2
    exit 1
fi
mkdir -p "$target"
install -m 755 "$work/build/bin/lmplz" "$target/lmplz"
echo "lmplz is in $target"
