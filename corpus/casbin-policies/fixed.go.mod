module corpus/casbin-policies

go 1.26.8

require github.com/casbin/casbin/v2 v2.8.0

require github.com/Knetic/govaluate v3.0.1-0.20171022003610-9aa49832a739+incompatible // indirect
