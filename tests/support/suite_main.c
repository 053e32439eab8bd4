/* suite_main.c - the main() of a test program that has none of its own. */
#include "config_auto.h"

#include "suite.h"

int main(void)
{
    return suite_main();
}
