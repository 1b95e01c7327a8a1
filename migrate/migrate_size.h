/* migrate_size - sizes, numbers of CPUs and durations of the operator, as the chart writes them, and
 * words in any case. */
#ifndef DREY_MIGRATE_MIGRATE_SIZE_H
#define DREY_MIGRATE_MIGRATE_SIZE_H

#include <stdbool.h>
#include <stdint.h>

#define MIGRATE_TEXT_BYTES 32

/* Memory as the operator reads it: Flink's units first ("2048m", "2g", "1 gb": powers of 1024), then
 * those of Kubernetes ("1.5Gi"). Rounded up. */
bool migrate_mib(const char *text, int64_t *ret_mib);

/* A number of CPUs the way the chart takes it: digits, a point, "m". "1.0" becomes "1". */
bool migrate_cpu(const char *text, char ret_text[MIGRATE_TEXT_BYTES]);

/* A duration of Flink ("1 h", "90s", "300000": milliseconds), at most 3650 days, as drey writes it. */
bool migrate_duration(const char *text, char ret_text[MIGRATE_TEXT_BYTES], int64_t *ret_ms);

/* ASCII letters in upper and in lower case are the same; `word` is in lower case. */
bool migrate_same(const char *text, const char *word);
bool migrate_contains(const char *text, const char *word);

/* Digits only, at most 9 of them. */
bool migrate_number(const char *text, int64_t *ret_value);

#endif
