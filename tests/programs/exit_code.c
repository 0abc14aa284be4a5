// Exits at once with the status in argv[1], 0 without. Expect: no finding, and the same status.

#include <stdlib.h>

int main(int argc, char **argv)
{
    return argc > 1 ? atoi(argv[1]) : 0;
}
