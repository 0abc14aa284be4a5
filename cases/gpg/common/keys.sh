#!/usr/bin/env bash
# Makes an RSA and an Ed25519 key without passphrases, for nothing but this case. usage: keys.sh FOLDER
set -euo pipefail
out=$1
# gpg-agent's socket wants a short path.
GNUPGHOME=$(mktemp -d /tmp/slowpath-keys-XXXXXX)
export GNUPGHOME
trap 'gpgconf --kill gpg-agent; rm -rf "$GNUPGHOME"' EXIT
log=$(gpg --batch --quiet --passphrase '' --quick-generate-key rsa@example.test rsa3072 sign never 2>&1 &&
  gpg --batch --quiet --passphrase '' --quick-generate-key ed25519@example.test ed25519 sign never 2>&1) ||
  { echo "$log" >&2; exit 1; }
gpgconf --kill gpg-agent
rm -f "$GNUPGHOME"/S.*
rm -rf "$out"
cp -r "$GNUPGHOME" "$out"
