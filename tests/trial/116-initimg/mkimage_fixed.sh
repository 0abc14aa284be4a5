#!/bin/sh
# builds the list of the boot image's modules for the devices of this machine, then the image
list=$(mktemp ./image.XXXXXX)
trap 'rm -f "$list"' EXIT

base_modules() {
    ./modinst -l "$list" $(sed -n 's|^kernel/crypto/\([^.]*\)\.ko:.*|\1|p' data/modules.dep | head -20)
}

install_modules() {
    set --
    for f in data/sys/*/modalias; do
        [ -e "$f" ] || continue
        read -r alias < "$f"
        set -- "$@" "$alias"
    done
    [ $# -eq 0 ] || ./modinst -l "$list" "$@" || missing=1
}

count_devices() {
    set -- data/sys/*/modalias
    echo "devices: $#"
}

missing=0
count_devices
base_modules
install_modules
[ "$missing" -eq 0 ] || echo "some devices have no module"
./imgpack "$list"
