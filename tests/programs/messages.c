// Formats a message for each record and looks afterwards whether it is to be logged. Expect: costly-call-per-operation in log_debug.

#include "support/messages.h"

int main(int argc, char **argv)
{
    return take_records(argc, argv, 0);
}
