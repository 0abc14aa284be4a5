/* Stands for the interpreter of a scriptlet: does what its arguments say and prints a line. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv)
{
    unsigned long h = 5381;
    if (argc < 4) return 2;
    int n = atoi(argv[3]);
    for (int i = 0; i < 2000 + n; i++)
        for (const char *p = argv[2]; *p; p++) h = h * 33 + (unsigned char)*p + i;
    printf("%s:%s:%d:%08lx\n", argv[1], argv[2], n, h & 0xffffffffUL);
    return n % 97 == 13;
}
