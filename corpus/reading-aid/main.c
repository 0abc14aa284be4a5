/* Says how well the stories of a school book fit the words that a class has learnt: cuts each line into the longest words of the list,
   and adds up the lessons in which they are learnt. Usage: program WORDS STORIES, both in UTF-8, the words with their lessons */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <datrie/trie.h>

enum { LINE = 8192, LESSONS = 100 };

/* The characters of a line, which ends with a 0. */
static int decode(const char *text, AlphaChar *out) {
    int count = 0;
    for (const unsigned char *at = (const unsigned char *)text; *at && *at != '\n';) {
        unsigned lead = *at++;
        int more = lead < 0x80 ? 0 : lead < 0xe0 ? 1 : lead < 0xf0 ? 2 : 3;
        AlphaChar character = more ? lead & (0x3f >> more) : lead;
        while (more-- && *at)
            character = character << 6 | (*at++ & 0x3f);
        out[count++] = character;
    }
    out[count] = 0;
    return count;
}

static Trie *read_words(const char *path) {
    FILE *file = fopen(path, "r");
    AlphaMap *alphabet = alpha_map_new();
    static char line[LINE];
    static AlphaChar word[LINE];
    if (!file || !alphabet)
        return NULL;
    while (fgets(line, sizeof line, file)) {
        int count = decode(strchr(line, ' ') + 1, word);
        for (int at = 0; at < count; at++)
            alpha_map_add_range(alphabet, word[at], word[at]);
    }
    Trie *words = trie_new(alphabet);
    alpha_map_free(alphabet);
    rewind(file);
    while (words && fgets(line, sizeof line, file)) {
        decode(strchr(line, ' ') + 1, word);
        trie_store(words, word, atoi(line));
    }
    fclose(file);
    return words;
}

/* The length of the longest word that the text begins with. */
static int longest(TrieState *state, const AlphaChar *text) {
    int found = 0;
    trie_state_rewind(state);
    for (int length = 1; text[length - 1] && trie_state_walk(state, text[length - 1]); length++)
        if (trie_state_is_terminal(state))
            found = length;
    return found;
}

int main(int argc, char **argv) {
    static char line[LINE];
    static AlphaChar text[LINE], word[LINE];
    unsigned long lessons[LESSONS] = {0}, unknown = 0, lines = 0;
    if (argc != 3) {
        fprintf(stderr, "usage: %s WORDS STORIES\n", argv[0]);
        return 2;
    }
    Trie *words = read_words(argv[1]);
    FILE *stories = fopen(argv[2], "r");
    if (!words || !stories) {
        perror(words ? argv[2] : argv[1]);
        return 1;
    }
    TrieState *state = trie_root(words);
    while (fgets(line, sizeof line, stories)) {
        decode(line, text);
        lines++;
        for (int at = 0; text[at];) {
            int length = longest(state, text + at);
            TrieData lesson;
            memcpy(word, text + at, length * sizeof *word);
            word[length] = 0;
            if (length && trie_retrieve(words, word, &lesson) && lesson >= 0 && lesson < LESSONS)
                lessons[lesson]++;
            else
                unknown++;
            at += length ? length : 1;
        }
    }
    for (int lesson = 0; lesson < LESSONS; lesson++)
        if (lessons[lesson])
            printf("lesson %d: %lu words\n", lesson, lessons[lesson]);
    printf("%lu lines, %lu characters are no word\n", lines, unknown);
    trie_state_free(state);
    trie_free(words);
    fclose(stories);
    return 0;
}
