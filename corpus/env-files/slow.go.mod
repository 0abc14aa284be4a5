module corpus/env-files

go 1.26.8

require github.com/joho/godotenv v1.3.0
