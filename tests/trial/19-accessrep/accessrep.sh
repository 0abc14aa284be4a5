#!/bin/bash
# accessrep - summarise a web server access log: requests per day, status and top paths.
set -u
export LC_ALL=C

declare -A per_day per_status per_path bytes_by_path
total=0
skipped=0

day_of() {
    date -u -d "@$1" +%Y-%m-%d
}

normalise_path() {
    echo "$1" | sed -e 's/?.*$//' -e 's#//*#/#g'
}

count_line() {
    local stamp=$1 status=$2 size=$3 path=$4
    local day clean
    day=$(day_of "$stamp")
    clean=$(normalise_path "$path")
    per_day[$day]=$(( ${per_day[$day]:-0} + 1 ))
    per_status[$status]=$(( ${per_status[$status]:-0} + 1 ))
    per_path[$clean]=$(( ${per_path[$clean]:-0} + 1 ))
    bytes_by_path[$clean]=$(( ${bytes_by_path[$clean]:-0} + size ))
    total=$(( total + 1 ))
}

read_log() {
    local stamp host method path status size
    while read -r stamp host method path status size; do
        if [[ ! $stamp =~ ^[0-9]+$ || ! $size =~ ^[0-9]+$ ]]; then
            skipped=$(( skipped + 1 ))
            continue
        fi
        [[ $method == OPTIONS ]] && continue
        count_line "$stamp" "$status" "$size" "$path"
    done < "$1"
}

print_table() {
    local title=$1
    local -n table=$2
    local key
    echo "== $title"
    for key in "${!table[@]}"; do
        printf '%s\t%s\n' "${table[$key]}" "$key"
    done | sort -k1,1nr -k2,2 | head -n "$3"
}

main() {
    local log=${1:-data/access.log}
    if [[ ! -r $log ]]; then
        echo "accessrep: cannot read $log" >&2
        exit 1
    fi
    read_log "$log"
    print_table "requests per day" per_day 10
    print_table "status" per_status 10
    print_table "top paths" per_path 15
    print_table "bytes" bytes_by_path 5
    echo "$total requests, $skipped skipped"
}

main "$@"
