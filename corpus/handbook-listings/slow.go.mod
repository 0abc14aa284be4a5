module corpus/handbook-listings

go 1.26.8

require github.com/alecthomas/chroma/v2 v2.12.0

require github.com/dlclark/regexp2 v1.10.0 // indirect
