/* Lists how many cookies of cookie files are alive, by their first letter. Usage: program FILE... */
#include <curl/curl.h>
#include <stdio.h>
#include <string.h>

static int list_cookies(const char *path) {
    struct curl_slist *cookies = NULL;
    CURL *easy = curl_easy_init();
    if (easy == NULL) return -1;
    curl_easy_setopt(easy, CURLOPT_COOKIEFILE, path);
    /* The file is read before the list is made. */
    CURLcode code = curl_easy_setopt(easy, CURLOPT_COOKIELIST, "RELOAD");
    if (code == CURLE_OK) code = curl_easy_getinfo(easy, CURLINFO_COOKIELIST, &cookies);
    if (code != CURLE_OK) {
        fprintf(stderr, "%s: %s\n", path, curl_easy_strerror(code));
        return -1;
    }
    int all = 0, secure = 0;
    size_t bytes = 0;
    for (struct curl_slist *cookie = cookies; cookie != NULL; cookie = cookie->next) {
        all++;
        if (strstr(cookie->data, "\tTRUE\t4") != NULL) secure++;
        bytes += strlen(cookie->data);
    }
    printf("%s: %d cookies, %d of them secure, %zu bytes\n", path, all, secure, bytes);
    curl_slist_free_all(cookies);
    curl_easy_cleanup(easy);
    return 0;
}

int main(int argc, char **argv) {
    int failed = 0;
    curl_global_init(CURL_GLOBAL_NOTHING);
    for (int file = 1; file < argc; file++) failed |= list_cookies(argv[file]) != 0;
    curl_global_cleanup();
    return failed;
}
