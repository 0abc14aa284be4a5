// A C++ class that searches its vector on each call, and throws. Expect: superlinear-work in Registry::add.

#include "support/registry.h"
#include "support/record.h"

#include <cstdio>
#include <cstdlib>
#include <string>

int main(int argc, char **argv)
{
    const double scale = argc > 1 ? std::atof(argv[1]) : 1;
    const unsigned count = static_cast<unsigned>(33000 * scale);
    Registry registry;
    unsigned duplicates = 0;

    for (unsigned i = 0; i < count; i++) {
        char line[RECORD_LINE_MAX];
        record parsed;
        write_record(line, i % 64 == 63 ? i / 2 - 7 : i);
        parse_record(line, &parsed);
        try {
            registry.add(parsed.name);
        } catch (const DuplicateName &) {
            duplicates++;
        }
        if (i % 16 == 7) // the newest, so that the erase itself is cheap
            registry.remove(parsed.name);
    }
    std::printf("%zu names, %u duplicates\n", registry.size(), duplicates);
}
