# Functions that both versions of the list share: the index, the versions that are installed, the aliases.

nl_echo() {
    command printf %s\\n "$*"
}

nl_err() {
    >&2 nl_echo "$@"
}

nl_die() {
    nl_err "$@"
    exit 1
}

# The versions of the index, oldest first, as "version lts".
nl_ls_remote() {
    [ -r "$NODELIST_DIR/index.tab" ] || nl_die "no index in $NODELIST_DIR"
    awk -F '\t' 'NR > 1 { print $1, $5 }' "$NODELIST_DIR/index.tab" | sort -t. -k1.2,1n -k2,2n -k3,3n
}

# The newest version of a release line.
nl_latest_of() {
    awk -F '\t' -v name="$1" 'tolower($5) == name { print $1 }' "$NODELIST_DIR/index.tab" | sort -t. -k1.2,1n -k2,2n -k3,3n | tail -n 1
}

nl_ls_installed() {
    for dir in "$NODELIST_DIR"/versions/v*; do
        [ -x "$dir/bin" ] && nl_echo "${dir##*/}"
    done | sort -t. -k1.2,1n -k2,2n -k3,3n
}

nl_current() {
    cat "$NODELIST_DIR/alias/current" 2>/dev/null || nl_echo none
}

nl_is_installed() {
    [ -d "$NODELIST_DIR/versions/$1" ]
}

# An alias, and aliases of aliases, down to a version.
nl_resolve_alias() {
    name=$1
    depth=0
    while [ $depth -lt 8 ]; do
        case $name in
            v[0-9]*) nl_echo "$name"; return ;;
            lts/*) name=$(nl_latest_of "${name#lts/}") ;;
            *)
                if [ -r "$NODELIST_DIR/alias/$name" ]; then
                    read -r name < "$NODELIST_DIR/alias/$name"
                else
                    nl_echo "N/A"
                    return
                fi ;;
        esac
        [ -n "$name" ] || name=N/A
        depth=$((depth + 1))
    done
    nl_echo "N/A"
}

nl_list_aliases() {
    for file in "$NODELIST_DIR"/alias/*; do
        alias=${file##*/}
        read -r target < "$file"
        version=$(nl_resolve_alias "$alias")
        state=''
        nl_is_installed "$version" || state=' (not installed)'
        if [ "$target" = "$version" ]; then
            nl_echo "$alias -> $version$state"
        else
            nl_echo "$alias -> $target (-> $version)$state"
        fi
    done
    awk -F '\t' 'NR > 1 && $5 != "-" { print tolower($5) }' "$NODELIST_DIR/index.tab" | sort -u | while read -r name; do
        version=$(nl_latest_of "$name")
        nl_echo "lts/$name -> $version"
    done
}

# Compares what is installed with the sums that came with it.
nl_verify_installed() {
    nl_ls_installed | while read -r version; do
        dir="$NODELIST_DIR/versions/$version"
        sum=$(sha256sum "$dir/bin/node" | awk '{ print $1 }')
        if grep -q "^$sum  bin/node\$" "$dir/SHASUMS256.txt"; then
            nl_echo "$version ok"
        else
            nl_echo "$version is damaged"
        fi
    done
}

# How many versions each year brought, and how many of them fixed something.
nl_summary() {
    awk -F '\t' 'NR > 1 { year = substr($2, 1, 4); n[year]++; if ($6 == "true") s[year]++ }
        END { for (y in n) printf "%s: %d versions, %d with fixes\n", y, n[y], s[y] }' "$NODELIST_DIR/index.tab" | sort
}
