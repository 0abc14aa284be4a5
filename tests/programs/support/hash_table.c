#include "hash_table.h"

#include "program.h"

// Where the key is, or the empty slot where it belongs.
static uint64_t *slot_of(uint64_t *slots, size_t room, uint64_t key)
{
    size_t at = (size_t)(key * 0x9e3779b97f4a7c15u >> 20) & (room - 1);
    while (slots[at] && slots[at] != key)
        at = (at + 1) & (room - 1);
    return &slots[at];
}

static void grow(struct hash_table *table)
{
    size_t room = table->room ? 2 * table->room : 1024;
    uint64_t *slots = allocate(room, sizeof(*slots));
    for (size_t i = 0; i < table->room; i++) {
        if (table->slots[i])
            *slot_of(slots, room, table->slots[i]) = table->slots[i];
    }
    free(table->slots);
    table->slots = slots;
    table->room = room;
}

void insert_batch(struct hash_table *table, const uint64_t *keys, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (2 * table->count >= table->room)
            grow(table);
        uint64_t *slot = slot_of(table->slots, table->room, keys[i]);
        table->count += !*slot;
        *slot = keys[i];
    }
}
