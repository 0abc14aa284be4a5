/* Uploads the scans of a folder to an archive. Usage: program FOLDER
   The archive's server is a thread of this program: it takes one request after the other and keeps the sizes. */
#include <arpa/inet.h>
#include <curl/curl.h>
#include <dirent.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static int listener;
static unsigned long checksum;

static void serve(int client) {
    FILE *in = fdopen(client, "r");
    char line[4096];
    size_t length = 0;
    while (in != NULL && fgets(line, sizeof line, in) != NULL) {
        if (strncasecmp(line, "Content-Length:", 15) == 0) length = strtoul(line + 15, NULL, 10);
        if (strcmp(line, "\r\n") != 0) continue;
        for (size_t byte = 0; byte < length; byte++) checksum = checksum * 31 + (unsigned char)getc(in);
        dprintf(client, "HTTP/1.1 201 Created\r\nContent-Length: 0\r\n\r\n");
        length = 0;
    }
    if (in != NULL) fclose(in);
}

static void *archive(void *unused) {
    for (int client; (client = accept(listener, NULL, NULL)) >= 0;) serve(client);
    return unused;
}

static int start_archive(void) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    socklen_t length = sizeof address;
    pthread_t thread;
    listener = socket(AF_INET, SOCK_STREAM, 0);
    if (listener < 0 || bind(listener, (struct sockaddr *)&address, sizeof address) != 0 || listen(listener, 8) != 0) return -1;
    if (getsockname(listener, (struct sockaddr *)&address, &length) != 0) return -1;
    if (pthread_create(&thread, NULL, archive, NULL) != 0) return -1;
    return ntohs(address.sin_port);
}

static size_t ignore(char *data, size_t size, size_t count, void *unused) {
    (void)data, (void)unused;
    return size * count;
}

static int upload(CURL *easy, int port, const char *folder, const char *name) {
    char url[512], path[512];
    long code = 0;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    snprintf(url, sizeof url, "http://127.0.0.1:%d/scans/%s", port, name);
    FILE *file = fopen(path, "rb");
    if (file == NULL) return -1;
    fseek(file, 0, SEEK_END);
    long size = ftell(file);
    char *body = malloc((size_t)size + 1);
    rewind(file);
    if (fread(body, 1, (size_t)size, file) != (size_t)size) size = 0;
    fclose(file);
    curl_easy_setopt(easy, CURLOPT_URL, url);
    curl_easy_setopt(easy, CURLOPT_POSTFIELDS, body);
    curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE, size);
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, ignore);
    CURLcode result = curl_easy_perform(easy);
    free(body);
    if (result != CURLE_OK) {
        fprintf(stderr, "%s: %s\n", name, curl_easy_strerror(result));
        return -1;
    }
    curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &code);
    printf("%s: %ld bytes, answer %ld\n", name, size, code);
    return 0;
}

static int no_dot(const struct dirent *entry) { return entry->d_name[0] != '.'; }

int main(int argc, char **argv) {
    struct dirent **names = NULL;
    int failed = 0;
    if (argc != 2) return 2;
    int count = scandir(argv[1], &names, no_dot, alphasort);
    int port = start_archive();
    if (count < 0 || port < 0) {
        perror(argv[1]);
        return 1;
    }
    curl_global_init(CURL_GLOBAL_NOTHING);
    CURL *easy = curl_easy_init();
    for (int index = 0; index < count; index++) {
        failed |= upload(easy, port, argv[1], names[index]->d_name) != 0;
        free(names[index]);
    }
    free(names);
    curl_easy_cleanup(easy);
    printf("%d scans, checksum %lx\n", count, checksum);
    return failed;
}
