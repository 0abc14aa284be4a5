module corpus/visitor-sets

go 1.26.8

require github.com/bits-and-blooms/bitset v1.7.0
