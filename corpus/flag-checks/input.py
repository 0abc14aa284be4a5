"""The C sources of some small libraries."""

import os
import random

random.seed(1)
for library, count in (("codec", 6), ("list", 3), ("text", 4)):
    os.makedirs(f"sources/{library}")
    for number in range(count):
        with open(f"sources/{library}/{library}{number}.c", "w") as file:
            file.write("#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n\n")
            for function in range(6):
                a, b, c = (random.randrange(1, 100) for _ in range(3))
                file.write(
                    f"int {library}{number}_{function}(const char *text, int *table, int count) {{\n"
                    f"    int sum = {a};\n"
                    f"    for (int at = 0; at < count; at++) {{\n"
                    f"        if (text[at] == {b})\n            table[sum & 63] += at * {c};\n        else\n            sum += table[at & 63] ^ {a * b};\n"
                    f'        if (sum > {b * 100000})\n            printf("%d of %s\\n", sum, text);\n'
                    f"    }}\n    return sum + (int)strlen(text);\n}}\n\n"
                )
