module corpus/html-formatting-attributes

go 1.26.8

require golang.org/x/net v0.54.0
