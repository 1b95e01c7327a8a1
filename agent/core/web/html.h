/*
 * html - text as HTML, whatever the text is. Pure.
 *
 * Names and messages come from Flink, from storage and from people: they are hostile. What is added here is safe as
 * text and inside an attribute with double quotes: & < > " ' are entities. What cannot be seen, or turns the direction
 * of the text around it (control characters, bidi controls, zero-width characters, line separators), and bytes that
 * are not UTF-8 are shown as their code: \x1b, \u{202e}. The output is always valid UTF-8.
 */
#ifndef DREY_CORE_HTML_H
#define DREY_CORE_HTML_H

#include <stddef.h>

#include "base/buf.h"

/* NULL adds nothing. Newlines and tabs stay. */
void html_text(struct buf *to, const char *text);

/* At most max_bytes of it, then "... (N more characters)". */
void html_cut(struct buf *to, const char *text, size_t max_bytes);

#endif
