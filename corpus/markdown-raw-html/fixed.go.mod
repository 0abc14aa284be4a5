module corpus/markdown-raw-html

go 1.26.8

require github.com/yuin/goldmark v1.4.8
