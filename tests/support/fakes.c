/* fakes.c - several fake masters at once; see fake.h. */
#include "config_auto.h"

#include "fake.h"
#include "masters.h"

void fakes_start(struct fake *ret_fakes[], unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        ret_fakes[i] = fake_start(true);
}

void fakes_stop(struct fake *fakes[], unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        fake_stop(fakes[i]);
}

const char *fakes_file(struct fake *fakes[], unsigned n, const char *settings)
{
    static struct node_list list;
    list.len = 0;
    for (unsigned i = 0; i < n; i++)
        node_list_add(&list, fake_endpoint(fakes[i]));
    node_list_line(&list, "%s", settings ? settings : "");
    return node_list_write(&list);
}
