// Looks words up in a tree by a function that calls itself, some words much more often than others, and measures the same tree again and again. Expect:
// nothing.

#include "support/program.h"

#include <stdio.h>
#include <stdlib.h>

struct node {
    uint64_t key;
    struct node *left, *right;
    size_t seen;
};

static struct node *add(struct node *node, uint64_t key)
{
    if (!node) {
        node = allocate(1, sizeof *node);
        *node = (struct node){.key = key};
    } else if (key < node->key) {
        node->left = add(node->left, key);
    } else {
        node->right = add(node->right, key);
    }
    return node;
}

static struct node *find(struct node *node, uint64_t key)
{
    if (!node || node->key == key)
        return node;
    struct node *found = find(key < node->key ? node->left : node->right, key);
    return found ? found : node;
}

static unsigned depth(const struct node *node)
{
    if (!node)
        return 0;
    unsigned left = depth(node->left), right = depth(node->right);
    return 1 + (left > right ? left : right);
}

static void free_tree(struct node *node)
{
    if (!node)
        return;
    free_tree(node->left);
    free_tree(node->right);
    free(node);
}

int main(int argc, char **argv)
{
    size_t rounds = scaled(1500, argc, argv);
    uint64_t random = 88172645463325252, keys[256];
    struct node *root = NULL;
    for (size_t i = 0; i < 256; i++)
        root = add(root, keys[i] = next_random(&random));
    size_t sum = 0;
    for (size_t i = 0; i < rounds; i++) {
        for (size_t look = 0; look < 40000; look++) {
            uint64_t word = next_random(&random) % 256;
            // The smaller the more often.
            sum += find(root, keys[word * (next_random(&random) % 256) / 256])->seen++ % 7;
        }
        for (size_t measured = 0; measured < 400; measured++)
            sum += depth(root);
    }
    printf("%zu\n", sum);
    free_tree(root);
    return 0;
}
