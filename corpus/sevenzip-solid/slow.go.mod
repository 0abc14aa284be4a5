module corpus/sevenzip-solid

go 1.26.8

require github.com/bodgit/sevenzip v1.1.0

require (
	github.com/bodgit/plumbing v1.1.0 // indirect
	github.com/bodgit/windows v1.0.0 // indirect
	github.com/connesc/cipherio v0.2.1 // indirect
	github.com/hashicorp/errwrap v1.0.0 // indirect
	github.com/hashicorp/go-multierror v1.1.0 // indirect
	github.com/ulikunitz/xz v0.5.7 // indirect
	go4.org v0.0.0-20200411211856-f5505b9728dd // indirect
	golang.org/x/text v0.3.3 // indirect
)
