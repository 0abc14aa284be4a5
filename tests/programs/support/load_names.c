#include "load_names.h"

#include "name_list.h"
#include "record.h"

size_t load_names(size_t count)
{
    char line[RECORD_LINE_MAX];
    struct record record;
    struct name_list list = {0};

    for (size_t i = 0; i < count; i++) {
        write_record(line, (uint32_t)(i % 32 == 31 ? i / 2 : i));
        parse_record(line, &record);
        name_list_insert(&list, record.name);
    }
    size_t names = list.count;
    name_list_free(&list);
    return names;
}
