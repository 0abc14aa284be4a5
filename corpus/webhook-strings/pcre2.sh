# Builds PCRE2's 8-bit library without the just-in-time compiler and the driver with it. Arguments: the package's folder, the program, the driver.
set -e
cd "$1"
if [ -d pcre2 ]; then
    mkdir -p include
    cp pcre2/src/pcre2.h.generic include/pcre2.h
    cp pcre2/src/config.h.generic include/config.h
    cp pcre2/src/pcre2_chartables.c.dist pcre2/src/pcre2_chartables.c
    folder=pcre2/src
else
    cp -r upstream/include include
    folder=upstream/src
fi
files=""
for name in auto_possess chartables compile config context convert error extuni find_bracket jit_compile match match_data newline ord2utf pattern_info \
    script_run string_utils study substring tables ucd valid_utf xclass; do
    if [ -e $folder/pcre2_$name.c ]; then files="$files $folder/pcre2_$name.c"; fi
done
cc -O2 -g -w -DPCRE2_CODE_UNIT_WIDTH=8 -DHAVE_STDLIB_H=1 -DHAVE_MEMMOVE=1 -DHEAP_LIMIT=20000000 -DLINK_SIZE=2 -DMATCH_LIMIT=10000000 \
    -DMATCH_LIMIT_DEPTH=10000000 -DMAX_NAME_COUNT=10000 -DMAX_NAME_SIZE=32 -DNEWLINE_DEFAULT=2 -DPARENS_NEST_LIMIT=250 -DPCRE2_STATIC=1 \
    -DSTDC_HEADERS=1 -DSUPPORT_PCRE2_8=1 -DSUPPORT_UNICODE=1 -Iinclude -I$folder "$3" $files -o "$2/program"
