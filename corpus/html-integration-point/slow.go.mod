module corpus/html-integration-point

go 1.26.8

require golang.org/x/net v0.32.0
