/*
 * kube_connect - a client of the API server as drey.yaml and the environment say. Makes no connection
 * yet. Each lane needs a client of its own.
 */
#ifndef DREY_RUN_KUBE_CONNECT_H
#define DREY_RUN_KUBE_CONNECT_H

#include "base/err.h"
#include "kube/kube.h"
#include "run/config/setup_kube.h"

/* setup->on must be true. NULL: the message says what to change. kube_free() when done. */
struct kube *kube_connect(const struct setup_kube *setup, struct err *err);

#endif
