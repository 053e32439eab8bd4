/* script_text.h - a script's parts (kinds/kind.h) as the one text that masters get. */
#ifndef SCRIPT_TEXT_H
#define SCRIPT_TEXT_H

/* It stays, and the next call for these parts returns it again. NULL: no parts. */
const char *script_text(const char *const *parts);

#endif
