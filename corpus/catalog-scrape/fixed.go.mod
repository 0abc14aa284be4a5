module corpus/catalog-scrape

go 1.26.8

require (
	github.com/antchfx/htmlquery v1.2.0
	golang.org/x/net v0.62.0
)

require (
	github.com/antchfx/xpath v1.1.2 // indirect
	github.com/golang/groupcache v0.0.0-20241129210726-2c02b8208cf8 // indirect
	golang.org/x/text v0.43.0 // indirect
)
