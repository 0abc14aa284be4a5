module shardpool

go 1.21
