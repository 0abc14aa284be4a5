// As messages.c, but each message is read: a sum of its letters is kept. Expect: silence.

#include "support/messages.h"

int main(int argc, char **argv)
{
    return take_records(argc, argv, 1);
}
