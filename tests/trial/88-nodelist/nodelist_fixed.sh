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
    nl_echo "$versions" | awk -v current="$current" -v installed="$(nl_ls_installed | tr '\n' ' ')" \
        -v ic="$installed_color" -v cc="$current_color" -v lc="$lts_color" -v tc="$latest_color" '
        BEGIN { n = split(installed, list, " "); for (i = 1; i <= n; i++) have[list[i]] = 1 }
        { version[NR] = $1; name[NR] = $2 == "-" ? "" : $2; latest[$2] = $1 }
        END {
            for (i = 1; i <= NR; i++) {
                v = version[i]
                padded = sprintf("%15s", v)
                label = ""
                if (name[i] != "" && latest[name[i]] == v) label = "\033[" tc "   (Latest LTS: " name[i] ")\033[0m"
                else if (name[i] != "") label = "\033[" lc "   (LTS: " name[i] ")\033[0m"
                if (v == current) printf "\033[%s->%s\033[0m%s\n", cc, substr(padded, 3), label
                else if (v in have) printf "\033[%s%s\033[0m%s\n", ic, padded, label
                else printf "%s%s\n", padded, label
            }
        }'
}

nl_main() {
    remote=$(nl_ls_remote)
    nl_print_versions "$remote"
    nl_list_aliases
    nl_verify_installed
    nl_summary
}

nl_main "$@"
