#!/bin/sh
# Installs the packages of package-lock.json; `--omit=dev` skips development packages.
# Install scripts are disabled: no package needs one.
set -eu
command -v npm > /dev/null || {
  echo "npm was not found: install Node 20 or newer (Debian: apt-get install nodejs npm)." >&2
  exit 1
}
log=$(mktemp)
trap 'rm -f "$log"' EXIT
npm ci "$@" --ignore-scripts --no-audit --no-fund --loglevel=error > "$log" 2>&1 &
npm=$!
seconds=0
while kill -0 "$npm" 2> /dev/null; do
  sleep 1
  seconds=$((seconds + 1))
  if [ -t 2 ]; then
    printf '\r\033[2Kinstalling packages … %s s' "$seconds" >&2
  elif [ $((seconds % 20)) -eq 1 ]; then
    echo "installing packages … $seconds s" >&2
  fi
done
if [ -t 2 ]; then echo >&2; fi
wait "$npm" || {
  cat "$log" >&2
  exit 1
}
