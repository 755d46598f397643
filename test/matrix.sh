#!/bin/sh
# Runs all tests on other versions of Node, each from the npm registry: sh test/matrix.sh 22 24 26
set -eu
cd "$(dirname "$0")/.."

platform=$(node -p 'process.platform')
arch=$(node -p 'process.arch')
for version in "$@"; do
  home="node_modules/.cache/node-$version"
  # The package `node` only finds out, in a script of its own, that it is this one.
  npm install --silent --no-save --no-audit --no-fund --prefix "$home" "node-$platform-$arch@$version"
  node="$PWD/$home/node_modules/node-$platform-$arch/bin/node"
  printf '\nNode %s\n' "$("$node" --version)"
  make test NODE="$node"
done
