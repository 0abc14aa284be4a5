/* Evaluates a Jsonnet file and prints the JSON. Usage: program FILE */
#include <libjsonnet.h>
#include <stdio.h>

int main(int argc, char **argv) {
    if (argc != 2) return 2;
    int failed = 0;
    struct JsonnetVm *vm = jsonnet_make();
    char *output = jsonnet_evaluate_file(vm, argv[1], &failed);
    fputs(output, failed ? stderr : stdout);
    jsonnet_realloc(vm, output, 0);
    jsonnet_destroy(vm);
    return failed;
}
