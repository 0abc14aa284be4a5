module corpus/recipe-scripts

go 1.26.8

require github.com/dop251/goja v0.0.0-20201107160812-7545ac6de48a

require (
	github.com/dlclark/regexp2 v1.12.0 // indirect
	github.com/go-sourcemap/sourcemap v2.1.4+incompatible // indirect
	golang.org/x/text v0.44.0 // indirect
	gopkg.in/yaml.v2 v2.4.0 // indirect
)
