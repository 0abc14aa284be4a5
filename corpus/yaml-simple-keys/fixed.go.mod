module corpus/yaml-simple-keys

go 1.26.8

require gopkg.in/yaml.v2 v2.2.8
