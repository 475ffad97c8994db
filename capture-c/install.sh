#!/bin/sh
# Installs the library texeltrace: headers, static and shared library, pkg-config file, CMake package.
#
#   install.sh --prefix DIR                        builds it first
#   install.sh --prefix DIR --libraries FOLDER     takes libtexeltrace.so and libtexeltrace.a from a folder
set -eu
here=$(cd "$(dirname "$0")" && pwd)
prefix=
libraries=
while [ $# -gt 0 ]; do
    case "$1" in
        --prefix) prefix=${2:?--prefix needs a folder}; shift 2 ;;
        --libraries) libraries=${2:?--libraries needs a folder}; shift 2 ;;
        *) echo "usage: $0 --prefix DIR [--libraries FOLDER]" >&2; exit 64 ;;
    esac
done
[ -n "$prefix" ] || { echo "usage: $0 --prefix DIR [--libraries FOLDER]" >&2; exit 64; }
if [ -z "$libraries" ]; then
    (cd "$here" && cargo build --release --locked --lib)
    target=$(cd "$here" && cargo metadata --format-version 1 --no-deps --locked |
        sed 's/.*"target_directory":"\([^"]*\)".*/\1/')
    libraries=$target/release
fi
mkdir -p "$prefix/lib/pkgconfig" "$prefix/lib/cmake/texeltrace" "$prefix/include"
cp "$libraries/libtexeltrace.so" "$libraries/libtexeltrace.a" "$prefix/lib/"
cp "$here/include/texeltrace.h" "$here/include/texeltrace.hpp" "$prefix/include/"
cp "$here/texeltrace.pc" "$prefix/lib/pkgconfig/"
cp "$here/cmake/texeltrace-config.cmake" "$here/cmake/texeltrace-config-version.cmake" "$prefix/lib/cmake/texeltrace/"
