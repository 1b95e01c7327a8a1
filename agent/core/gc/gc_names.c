/*
 * gc: the names that Flink gives to files. What has another name is not known here, and stays.
 *
 * Sources, Flink 1.15 to 2.3: AbstractFsCheckpointStorageAccess (chk-<n>, shared, taskowned, _metadata),
 * FsCheckpointStreamFactory and PhysicalFile (the name of a state file is a UUID),
 * FileMergingSnapshotManager.SubtaskKey (directories in shared), FsStateChangelogStorage (dstl),
 * LocalRecoverableFsDataOutputStream and its like (._metadata.inprogress.<UUID>),
 * FileSystemJobResultStore, FileSystemApplicationResultStore, BlobUtils.
 *
 * ForSt names its files by a counter (000012.sst), so that a name does not tell one from another: they
 * are not in the table.
 */
#include <string.h>

#include "base/mem.h"
#include "core/gc/gc_internal.h"

/* '#' a number, '@' a UUID, '$' 32 hexadecimal digits, '*' the rest of a name, '^' all that follows */
static const struct {
	enum gc_tree_kind kind;
	const char *pattern;
	enum gc_known known;
} known_names[] = {
	{GC_TREE_JOB, "chk-#/_metadata", GC_KNOWN_CHECKPOINT},
	{GC_TREE_JOB, "chk-#/._metadata.inprogress.@", GC_KNOWN_CHECKPOINT},
	{GC_TREE_JOB, "chk-#/@", GC_KNOWN_CHECKPOINT},
	{GC_TREE_JOB, "shared/@", GC_KNOWN_SHARED},
	{GC_TREE_JOB, "shared/job_*/@", GC_KNOWN_SHARED},
	{GC_TREE_JOB, "dstl/@", GC_KNOWN_SHARED},
	/* an operator may keep references to these in its own state, as a write-ahead sink does
	 * (GenericWriteAheadSink): no _metadata shows them */
	{GC_TREE_JOB, "taskowned/^", GC_KNOWN_TASK_OWNED},
	{GC_TREE_RESULTS, "$.json", GC_KNOWN_RESULT},
	{GC_TREE_RESULTS, "$_DIRTY.json", GC_KNOWN_RESULT},
	{GC_TREE_BLOBS, "blob_p-*", GC_KNOWN_BLOB},
	{GC_TREE_BLOBS, "blob_t-*", GC_KNOWN_BLOB},
};

static bool is_uuid(const char *name)
{
	static const char form[] = "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx";

	for (size_t i = 0; i < sizeof(form) - 1; i++) {
		if (form[i] == '-'
			    ? name[i] != '-'
			    : (name[i] < '0' || name[i] > '9') && (name[i] < 'a' || name[i] > 'f'))
			return false;
	}
	return true;
}

/* The length of what the character of the pattern stands for; 0 = something else is there. */
static size_t length_of(char what, const char *name)
{
	switch (what) {
	case '#':
		return strspn(name, "0123456789");
	case '@':
		return is_uuid(name) ? 36 : 0;
	case '$':
		return strspn(name, "0123456789abcdef") == JOB_ID_BYTES - 1 ? JOB_ID_BYTES - 1 : 0;
	case '*':
		return strcspn(name, "/");
	case '^':
		return strlen(name);
	default:
		return *name == what;
	}
}

static bool matches(const char *pattern, const char *name)
{
	for (; *pattern; pattern++) {
		size_t len = length_of(*pattern, name);

		if (!len)
			return false;
		name += len;
	}
	return !*name;
}

enum gc_known gc_known_name(enum gc_tree_kind kind, const char *name)
{
	for (size_t i = 0; i < ARRAY_LEN(known_names); i++)
		if (known_names[i].kind == kind && matches(known_names[i].pattern, name))
			return known_names[i].known;
	return GC_KNOWN_NOT;
}

bool gc_job_of_result(const char *name, char ret_job_id[JOB_ID_BYTES])
{
	if (gc_known_name(GC_TREE_RESULTS, name) != GC_KNOWN_RESULT)
		return false;
	memcpy(ret_job_id, name, JOB_ID_BYTES - 1);
	ret_job_id[JOB_ID_BYTES - 1] = '\0';
	return true;
}
