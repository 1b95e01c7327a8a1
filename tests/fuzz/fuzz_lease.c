/* Any bytes as the lease object. What is accepted is printed and read again as the same. */
#include <string.h>

#include "core/lease/lease.h"
#include "must.h"

#define APP "orders"

static void must_be_id(const char *id)
{
	must(strlen(id) == LEASE_ID_BYTES - 1);
	must(strspn(id, "0123456789abcdef") == LEASE_ID_BYTES - 1);
}

static void must_be_whole(const struct lease_claim *claim)
{
	must_be_id(claim->holder);
	must_be_id(claim->session);
	must(claim->sequence >= 1);
	must(claim->duration_ms >= LEASE_MIN_MS && claim->duration_ms <= LEASE_MAX_MS);
	must(strnlen(claim->name, LEASE_NAME_BYTES) < LEASE_NAME_BYTES);
}

static void read_again(const struct lease_claim *claim)
{
	struct lease_claim back = {0};
	cleanup_buf struct buf text = BUF_INIT;
	struct err err = {0};

	lease_claim_print(claim, APP, &text);
	must(lease_claim_parse(buf_str(&text), text.len_bytes, APP, &back, &err) == 0);
	must_be_whole(&back);
	must(!strcmp(claim->holder, back.holder) && !strcmp(claim->session, back.session));
	must(claim->sequence == back.sequence && claim->duration_ms == back.duration_ms);
	must(!strcmp(claim->write, back.write) && claim->ended == back.ended);
	must(!strcmp(claim->uri, back.uri));
	must(claim->parked == back.parked && claim->written_unix_ms == back.written_unix_ms);
	must(lease_claim_parse(buf_str(&text), text.len_bytes, "another", &back, &err) < 0);
	must(err.kind == ERR_CONFIG);
}

/* What it says never opens the way before its duration is over, also if it is called ours, unless our Flink has
 * ended. */
static void must_wait(const struct lease_claim *claim)
{
	static const char other[] = "ffffffffffffffffffffffffffffffff";
	cleanup_buf struct buf why = BUF_INIT;
	struct lease lease;

	if (!strcmp(claim->holder, other) && claim->ended)
		return;
	lease_init(&lease, &(struct lease_self){
				   .holder = other, .session = other, .duration_ms = LEASE_MIN_MS});
	must(lease_next(&lease, other, 1) == LEASE_READ);
	lease_was_read(&lease, LEASE_ANSWER_OK, "e", claim, "", 1);
	must(lease_next(&lease, other, 1 + claim->duration_ms) == LEASE_READ);
	must(!lease_is_held(&lease, 1 + claim->duration_ms));
	lease_print(&lease, 1, &why);
	must(why.len_bytes > 0);
}

/* The file in the state directory: what is read is written the same, and proves nothing elsewhere. */
static void try_mark(const char *text, size_t len_bytes)
{
	struct lease_mark mark = {0}, back = {0};
	cleanup_buf struct buf again = BUF_INIT;
	struct err err = {0};

	if (lease_mark_parse(text, len_bytes, "here", &mark, &err) < 0) {
		must(mark.sequence == 0 && !mark.writes[0][0]);
		return;
	}
	lease_mark_print(&mark, "here", &again);
	must(lease_mark_parse(buf_str(&again), again.len_bytes, "here", &back, &err) == 0);
	must(!memcmp(&mark, &back, sizeof(mark)));
	must(lease_mark_parse(text, len_bytes, "there", &back, &err) < 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes)
{
	struct lease_claim claim = {.sequence = -1};
	struct err err = {0};

	try_mark((const char *)data, size_bytes);
	if (lease_claim_parse((const char *)data, size_bytes, APP, &claim, &err) < 0) {
		must(*err.msg && (err.kind == ERR_FORMAT || err.kind == ERR_CONFIG));
		must(claim.sequence == -1); /* untouched */
		return 0;
	}
	must_be_whole(&claim);
	read_again(&claim);
	must_wait(&claim);
	return 0;
}
