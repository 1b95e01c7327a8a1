/* operation_status - what Flink's answer says about an operation that it was asked for, or about. */
#ifndef DREY_RUN_OPERATION_STATUS_H
#define DREY_RUN_OPERATION_STATUS_H

#include "core/lifecycle/lifecycle.h"
#include "flink/rest.h"

/* Of a poll. A POST that is answered with FLINK_ABSENT was refused: there is no such job. */
enum operation_status operation_status_of(enum flink_answer answer, const struct err *err);

#endif
