#!/bin/bash
# nodelist: all versions of the index with those that are installed, the aliases, and whether the files are whole.
NODELIST_DIR=${NODELIST_DIR:-data}
. ./lib.sh

nl_get_colors() {
    case $1 in
        installed) nl_echo '0;34m' ;;
        current) nl_echo '0;32m' ;;
        lts) nl_echo '0;33m' ;;
        latest) nl_echo '1;33m' ;;
        *) nl_echo '0m' ;;
    esac
}

nl_print_versions() {
    versions=$1
    current=$(nl_current)
    installed_color=$(nl_get_colors installed)
    current_color=$(nl_get_colors current)
    lts_color=$(nl_get_colors lts)
    latest_color=$(nl_get_colors latest)
    nl_echo "$versions" | while read -r line; do
        version=$(nl_echo "$line" | awk '{ print $1 }')
        name=$(nl_echo "$line" | awk '{ print $2 }' | sed 's/^-$//')
        padded=$(command printf '%15s' "$version")
        label=''
        if [ -n "$name" ]; then
            if [ "$version" = "$(nl_echo "$versions" | grep " $name\$" | tail -n 1 | cut -d ' ' -f 1)" ]; then
                label="$(command printf '\033[%s' "$latest_color")   (Latest LTS: $name)$(command printf '\033[0m')"
            else
                label="$(command printf '\033[%s' "$lts_color")   (LTS: $name)$(command printf '\033[0m')"
            fi
        fi
        if [ "$version" = "$current" ]; then
            command printf '\033[%s->%s\033[0m%s\n' "$current_color" "$(nl_echo "$padded" | sed 's/^..//')" "$label"
        elif nl_is_installed "$version"; then
            command printf '\033[%s%s\033[0m%s\n' "$installed_color" "$padded" "$label"
        else
            command printf '%s%s\n' "$padded" "$label"
        fi
    done
}

nl_main() {
    remote=$(nl_ls_remote)
    nl_print_versions "$remote"
    nl_list_aliases
    nl_verify_installed
    nl_summary
}

nl_main "$@"
