/* Says what strings messages hold: how many, and the longest. Usage: program FILE, with a JSON message on each line. */
#include <pcre2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const STRING = "\"((?:[^\"\\\\]|\\\\.)*)\"";

static int strings_of(pcre2_code *code, pcre2_match_data *data, const char *line, size_t length, int number) {
    PCRE2_SIZE *places = pcre2_get_ovector_pointer(data);
    size_t at = 0, count = 0, longest = 0, where = 0;
    for (;;) {
        int result = pcre2_match(code, (PCRE2_SPTR)line, length, at, 0, data, NULL);
        if (result == PCRE2_ERROR_NOMATCH) break;
        if (result < 0) {
            fprintf(stderr, "message %d: error %d\n", number, result);
            return -1;
        }
        count++;
        if (places[3] - places[2] > longest) {
            longest = places[3] - places[2];
            where = places[2];
        }
        at = places[1];
    }
    printf("message %d: %zu strings, the longest of %zu bytes at %zu\n", number, count, longest, where);
    return 0;
}

int main(int argc, char **argv) {
    int error = 0, number = 0, failed = 0;
    PCRE2_SIZE offset = 0, room = 0;
    char *line = NULL;
    FILE *file = argc == 2 ? fopen(argv[1], "r") : NULL;
    if (file == NULL) return 2;
    pcre2_code *code = pcre2_compile((PCRE2_SPTR)STRING, PCRE2_ZERO_TERMINATED, 0, &error, &offset, NULL);
    if (code == NULL) return 1;
    pcre2_match_data *data = pcre2_match_data_create_from_pattern(code, NULL);
    for (ssize_t length; (length = getline(&line, &room, file)) > 0;) failed |= strings_of(code, data, line, (size_t)length, ++number) != 0;
    free(line);
    fclose(file);
    pcre2_match_data_free(data);
    pcre2_code_free(code);
    return failed;
}
