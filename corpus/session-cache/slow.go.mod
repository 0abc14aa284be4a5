module corpus/session-cache

go 1.26.8

require github.com/ReneKroon/ttlcache/v2 v2.8.1

require golang.org/x/sync v0.0.0-20210220032951-036812b2e83c // indirect
