// hclint: checks a configuration and prints what is wrong with it.
#include "lint.h"
#include "parser.h"
#include <cstdio>
#include <fstream>
#include <sstream>

int main(int argc, char** argv) {
    std::ifstream in(argc > 1 ? argv[1] : "data/site.conf");
    std::stringstream buffer;
    buffer << in.rdbuf();
    std::string text = buffer.str();
    try {
        Parser parser(text);
        auto file = parser.parse_file();
        Linter linter(text);
        linter.run(*file);
        for (auto& d : linter.diagnostics) printf("%zu:%zu: %s\n", d.line, d.column, d.message.c_str());
        printf("%zu blocks, %zu in the plan, size %ld\n", file->children.size(), linter.plan.size(), linter.total_size);
    } catch (ParseError& e) {
        fprintf(stderr, "%s\n", e.what());
        return 1;
    }
}
