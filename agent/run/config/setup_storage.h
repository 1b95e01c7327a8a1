/*
 * setup_storage - where the object stores are and how to sign in: drey.yaml, else Flink's own
 * configuration, else the environment and the AWS profile (docs/reference/storage.md).
 *
 * Each setting is looked up separately, except for keys and passwords: a set of them comes from one
 * source. S3 keys that neither drey.yaml nor Flink's configuration gives are left to the chain of
 * store/s3/s3_credentials.h.
 *
 * What Flink's S3 file systems read (flink-s3-fs-hadoop, -presto and, since 2.3, -native; sources:
 * S3FileSystemFactory and NativeS3FileSystemFactory of Flink, "Hadoop-AWS module" of Hadoop 3): one
 * of the prefixes s3., s3a., fs.s3a. and presto.s3., then a name; names with '-' and with '.' in
 * them mean the same. Options for one bucket (s3.bucket.NAME...) apply to the buckets of the two
 * directories.
 */
#ifndef DREY_RUN_SETUP_STORAGE_H
#define DREY_RUN_SETUP_STORAGE_H

#include "base/err.h"
#include "flink/conf.h"
#include "run/config/config.h"
#include "store/store_config.h"

/* The two directories are those in `config`, whatever their origin. ERR_CONFIG and others: the
 * message names the key and, of a file with a secret, its path. */
int setup_storage(const struct config *config, const struct flink_conf *conf,
		  struct store_config *ret_storage, struct err *err);

/* For commands without drey.yaml: fill what is still NULL from the environment, and region,
 * endpoint and CA from the AWS profile. An unreadable profile is ignored here: the code that needs
 * keys from it reports it. */
void setup_storage_environment(struct store_config *storage);

#endif
