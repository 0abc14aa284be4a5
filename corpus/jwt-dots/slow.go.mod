module corpus/jwt-dots

go 1.26.8

require github.com/golang-jwt/jwt/v5 v5.2.1
