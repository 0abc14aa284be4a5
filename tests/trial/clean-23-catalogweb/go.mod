module catalogweb

go 1.21
