#!/bin/sh
# Fetches a browser for the tests of the page, unless there is one: Debian's package where this may install packages,
# else that of npm into .browser/, from where the tests take it. Nothing else on the machine is changed.
set -eu
folder="$(cd "$(dirname "$0")/../.." && pwd)/.browser"

for name in "${HOLDFAST_CHROMIUM:-}" chromium-headless-shell chromium google-chrome "$folder/chromium"; do
  if [ -n "$name" ] && path=$(command -v "$name"); then
    echo "There is a browser already: $path"
    exit
  fi
done

if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
  echo "Installing Debian's chromium-headless-shell with apt-get …"
  apt-get update -qq && apt-get install -y -qq --no-install-recommends chromium-headless-shell && exit
  echo "apt-get could not install it."
fi

if ! command -v npm >/dev/null; then
  echo "Neither apt-get nor npm can fetch a browser here: install Chromium, and set HOLDFAST_CHROMIUM to its path." >&2
  exit 1
fi
echo "Unpacking @sparticuz/chromium from npm into $folder …"
mkdir -p "$folder"
npm install --prefix "$folder" --no-save --no-audit --no-fund --silent @sparticuz/chromium
cd "$folder"
TMPDIR="$folder" node --input-type=module -e '
  import chromium from "@sparticuz/chromium";
  console.log("Unpacked:", await chromium.executablePath());
'
