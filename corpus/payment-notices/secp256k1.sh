# Builds libsecp256k1 into the driver. Arguments: its folder, the program, the driver.
# The package gives all names a prefix with its version; here they get those of the library.
set -e
cd "$1"
grep -rlE 'rustsecp256k1_v[0-9_]+_' . | xargs sed -i -E 's/rustsecp256k1_v[0-9]+_[0-9]+_[0-9]+_/secp256k1_/g'
tables=""
for name in precomputed_ecmult precomputed_ecmult_gen; do
    if [ -e src/$name.c ]; then tables="$tables src/$name.c"; fi
done
cc -O2 -g -w -DSECP256K1_API= -DUSE_NUM_NONE=1 -DUSE_FIELD_INV_BUILTIN=1 -DUSE_SCALAR_INV_BUILTIN=1 -DECMULT_WINDOW_SIZE=15 \
    -DECMULT_GEN_PREC_BITS=4 -DENABLE_MODULE_ECDH=1 -I. -Isrc -Iinclude "$3" src/secp256k1.c $tables -o "$2/program"
