/* golden - output that is kept in tests/golden, and compared. `make golden` writes what is printed now. */
#ifndef DREY_TESTS_GOLDEN_H
#define DREY_TESTS_GOLDEN_H

/* Compare with tests/golden/NAME, or with DREY_RENEW_GOLDEN in the environment write it. */
void golden_check(const char *name, const char *text);

#endif
