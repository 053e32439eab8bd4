/* node_list.c - node list files for the tests; see masters.h and proxy.h. */
#include "config_auto.h"

#include "masters.h"
#include "proxy.h"

#include <stdarg.h>
#include <stdio.h>
#include <sys/stat.h>

void node_list_line(struct node_list *list, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    size_t room = sizeof(list->text) - list->len;
    size_t len = (size_t)vsnprintf(list->text + list->len, room, format, arguments);
    va_end(arguments);
    if (len + 2 > room)
        suite_die("node list too long");
    list->len += len;
    list->text[list->len++] = '\n';
    list->text[list->len] = '\0';
}

void node_list_add(struct node_list *list, const struct endpoint *endpoint)
{
    char url[ENDPOINT_URL_MAX];
    endpoint_url(endpoint, url);
    node_list_line(list, "node %s", url);
}

const char *node_list_write(struct node_list *list)
{
    char dir[SUITE_PATH_MAX];
    suite_new_dir(dir);
    snprintf(list->path, sizeof(list->path), "%s/redlock.conf", dir);
    FILE *file = fopen(list->path, "w");
    if (!file || fwrite(list->text, 1, list->len, file) != list->len || fclose(file) != 0)
        suite_die("can't write %s", list->path);
    chmod(list->path, 0600);
    return list->path;
}

const char *proxies_start(const struct masters *masters, struct proxy *ret_proxies[],
                          bool on_unix_socket, const char *settings)
{
    static struct node_list list;
    list.len = 0;
    for (unsigned i = 0; i < masters->n; i++) {
        ret_proxies[i] = proxy_start(&masters->node[i].unix_at, on_unix_socket);
        node_list_add(&list, proxy_endpoint(ret_proxies[i]));
    }
    node_list_line(&list, "guard off\n%s", settings ? settings : "");
    return node_list_write(&list);
}

void proxies_stop(struct proxy *const proxies[], unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        proxy_stop(proxies[i]);
}
