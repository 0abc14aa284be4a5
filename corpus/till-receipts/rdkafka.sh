# Builds librdkafka without its optional libraries and the driver with it. Arguments: librdkafka's folder, the program, the driver.
set -e
cd "$1"
chmod +x configure lds-gen.py
./configure --disable-ssl --disable-gssapi --disable-zlib --disable-zstd --disable-lz4-ext --disable-c11threads
make -j1 -C src librdkafka.a
cc -O2 -g -Isrc "$3" src/librdkafka.a -lpthread -ldl -lrt -lm -o "$2/program"
