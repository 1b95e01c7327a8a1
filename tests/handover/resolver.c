/*
 * resolver - the name of a headless Service, for a program that is started with this library: "APP-jobmanager" has the addresses
 * in the directory $BENCH_ADDRESSES, files ADDRESS with "POD jobmanager ...", whether the Pods are ready or not. Without any it
 * is not known.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef int resolve(const char *, const char *, const struct addrinfo *, struct addrinfo **);

/* Is it the address of a JobManager? */
static int is_job_manager(const char *dir, const char *address)
{
	char path[4096], component[64];
	FILE *file;
	int found;

	snprintf(path, sizeof(path), "%s/%s", dir, address);
	file = fopen(path, "re");
	if (!file)
		return 0;
	found = fscanf(file, "%*s %63s", component) == 1 && !strcmp(component, "jobmanager");
	fclose(file);
	return found;
}

int getaddrinfo(const char *name, const char *service, const struct addrinfo *hints, struct addrinfo **ret)
{
	resolve *real = (resolve *)dlsym(RTLD_NEXT, "getaddrinfo");
	const char *dir = getenv("BENCH_ADDRESSES"), *tail = name ? strrchr(name, '-') : NULL;
	struct addrinfo **end = ret;
	struct dirent *entry;
	DIR *all;

	if (!dir || !tail || strcmp(tail, "-jobmanager"))
		return real(name, service, hints, ret);
	*ret = NULL;
	all = opendir(dir);
	while (all && (entry = readdir(all))) {
		if (entry->d_name[0] == '.' || !is_job_manager(dir, entry->d_name) ||
		    real(entry->d_name, service, hints, end))
			continue;
		while (*end)
			end = &(*end)->ai_next;
	}
	if (all)
		closedir(all);
	return *ret ? 0 : EAI_NONAME;
}
