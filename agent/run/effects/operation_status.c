#include "run/effects/operation_status.h"

enum operation_status operation_status_of(enum flink_answer answer, const struct err *err)
{
	switch (answer) {
	case FLINK_OK:
		return STATUS_ACCEPTED;
	case FLINK_NOT_YET:
		return STATUS_UNREACHABLE;
	case FLINK_ABSENT:
		return STATUS_UNKNOWN_ID;
	default:
		/* timeouts, 5xx and half answers leave open what happened; the rest is a refusal */
		return err->kind == ERR_CONFIG || err->kind == ERR_DENIED || err->kind == ERR_BUSY
			       ? STATUS_FAILED
			       : STATUS_UNREACHABLE;
	}
}
