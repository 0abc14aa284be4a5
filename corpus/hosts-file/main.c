/* Counts the requests and bytes of each internal service: the log has the names of the machines that asked, the hosts file of the
   site says their addresses, and the second and third part of an address is the service's network.
   Usage: program HOSTS LOG */

#include <ares.h>
#include <arpa/inet.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NETWORKS = 65536, CLIENT = 256 };

struct network {
    unsigned long requests;
    unsigned long bytes;
};

struct client {
    char name[CLIENT];
    int network;
    unsigned long requests;
    unsigned long bytes;
    struct client *next;
};

static struct client *clients[4096];
static struct network networks[NETWORKS];
static unsigned long unknown;

static struct client *client_of(const char *name) {
    unsigned hash = 5381;
    for (const char *at = name; *at; at++)
        hash = hash * 33 + (unsigned char)*at;
    struct client **place = &clients[hash % 4096];
    for (struct client *client = *place; client; client = client->next)
        if (strcmp(client->name, name) == 0)
            return client;
    struct client *client = calloc(1, sizeof *client);
    if (!client)
        abort();
    strncpy(client->name, name, CLIENT - 1);
    client->network = -1;
    client->next = *place;
    return *place = client;
}

static void resolved(void *arg, int status, int timeouts, struct ares_addrinfo *info) {
    struct client *client = arg;
    (void)timeouts;
    if (status == ARES_SUCCESS && info->nodes && info->nodes->ai_family == AF_INET) {
        const struct sockaddr_in *address = (const struct sockaddr_in *)info->nodes->ai_addr;
        client->network = ntohl(address->sin_addr.s_addr) >> 8 & 0xffff;
    }
    if (status == ARES_SUCCESS)
        ares_freeaddrinfo(info);
}

static void read_log(FILE *log) {
    char line[1024], name[CLIENT];
    while (fgets(line, sizeof line, log)) {
        unsigned long bytes;
        if (sscanf(line, "%255s %*s \"%*[^\"]\" %*d %lu", name, &bytes) != 2)
            continue;
        struct client *client = client_of(name);
        client->requests++;
        client->bytes += bytes;
    }
}

int main(int argc, char **argv) {
    if (argc != 3) {
        fprintf(stderr, "usage: %s HOSTS LOG\n", argv[0]);
        return 2;
    }
    FILE *log = fopen(argv[2], "r");
    if (!log) {
        perror(argv[2]);
        return 1;
    }
    read_log(log);
    fclose(log);

    ares_channel channel;
    struct ares_options options = {.hosts_path = argv[1], .lookups = "f"};
    if (ares_library_init(ARES_LIB_INIT_ALL) != ARES_SUCCESS
        || ares_init_options(&channel, &options, ARES_OPT_HOSTS_FILE | ARES_OPT_LOOKUPS) != ARES_SUCCESS) {
        fprintf(stderr, "c-ares does not start\n");
        return 1;
    }
    struct ares_addrinfo_hints hints = {.ai_family = AF_INET};
    for (int place = 0; place < 4096; place++)
        for (struct client *client = clients[place]; client; client = client->next) {
            ares_getaddrinfo(channel, client->name, NULL, &hints, resolved, client);
            if (client->network < 0) {
                unknown++;
                continue;
            }
            networks[client->network].requests += client->requests;
            networks[client->network].bytes += client->bytes;
        }
    for (int network = 0; network < NETWORKS; network++)
        if (networks[network].requests)
            printf("10.%d.%d.0: %lu requests, %lu bytes\n", network >> 8, network & 255, networks[network].requests, networks[network].bytes);
    printf("%lu machines are unknown\n", unknown);
    ares_destroy(channel);
    ares_library_cleanup();
    return 0;
}
