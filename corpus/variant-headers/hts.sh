# Builds the driver with the HTSlib that the crate carries, without its parts for the network.
# Arguments: HTSlib's folder, the folder for the program, the driver.
set -e
cd "$1"
printf '#define HAVE_DRAND48 1\n#define _XOPEN_SOURCE 600\n' > config.h
printf '#define HTS_VERSION_TEXT "crate"\n#define HTSCODECS_VERSION_TEXT "crate"\n' > version.h
cp version.h htscodecs/htscodecs/version.h
printf '#define HTS_CC "cc"\n#define HTS_CPPFLAGS ""\n#define HTS_CFLAGS "-O2 -g"\n#define HTS_LDFLAGS ""\n#define HTS_LIBS ""\n' > config_vars.h
skipped='^(annot-tsv|bgzip|htsfile|tabix|hfile_gcs|hfile_libcurl|hfile_s3|hfile_s3_write|plugin)\.c$|_neon\.c$'
sources=$(ls *.c cram/*.c htscodecs/htscodecs/*.c | grep -vE "$skipped")
cc -O2 -g -w -I. "$3" $sources -lz -lm -lpthread -o "$2/program"
