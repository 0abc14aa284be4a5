# Builds the driver with the libxml2 that the npm package carries. The two releases keep it in different folders.
# Arguments: the package's folder, the folder for the program, the driver.
set -e
cd "$1"
for xml in vendor/libxml vendor/libxml2; do [ -d $xml ] && break; done
config=vendor/libxml2.config
[ -d $config ] || config=$xml
sources=$(ls $xml/*.c | grep -vE '/(trio[a-z]*|run[a-z]*|test[A-Za-z0-9]*|xmllint|xmlcatalog|xzlib|rngparser)\.c$')
cc -O2 -g -w -D_REENTRANT -DHAVE_CONFIG_H -I$config -I$config/include -I$xml/include -I$xml "$3" $sources -lm -lpthread -o "$2/program"
