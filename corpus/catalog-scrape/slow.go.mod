module corpus/catalog-scrape

go 1.26.8

require (
	github.com/antchfx/htmlquery v1.1.0
	golang.org/x/net v0.62.0
)

require (
	github.com/antchfx/xpath v1.1.2 // indirect
	golang.org/x/text v0.43.0 // indirect
)
