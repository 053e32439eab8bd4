/* page_check.h - is a page well-formed, and does it lean on nothing but itself? */
#ifndef TEST_PAGE_CHECK_H
#define TEST_PAGE_CHECK_H

#include <stddef.h>

/* NULL, or what is wrong and where. Stricter than HTML: every tag is closed in its order, or
 * by itself. Attributes are quoted. Only &amp; &lt; &gt; &quot; &#39; stand for characters.
 * Ids are unique, and all that is referred to is there. Nothing is fetched from elsewhere. */
const char *page_problem(const char *page, size_t len);

#endif
