module corpus/build-order

go 1.26.8

require github.com/dominikbraun/graph v0.22.3
