module corpus/handbook-listings

go 1.26.8

require github.com/alecthomas/chroma/v2 v2.13.0

require github.com/dlclark/regexp2 v1.11.0 // indirect
