#include "kube/kube_find.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/base64.h"
#include "base/fs.h"
#include "base/mem.h"
#include "kube/kube_file.h"
#include "kube/kube_headers.h"
#include "store_dir.h"
#include "tap.h"

/* The environment of the running test: NAME=VALUE ... */
static const char *environment[8];

static char *get_env(const char *name)
{
	size_t len = strlen(name);

	for (size_t i = 0; i < ARRAY_LEN(environment) && environment[i]; i++)
		if (!strncmp(environment[i], name, len) && environment[i][len] == '=')
			return (char *)environment[i] + len + 1;
	return NULL;
}

static void set_environment(const char *a, const char *b, const char *c)
{
	environment[0] = a;
	environment[1] = b;
	environment[2] = c;
	environment[3] = NULL;
}

struct rig {
	char *top;
	struct kube_world world;
	struct kube_target config;
	struct err err;
};

static void put(const struct rig *rig, const char *name, const char *text)
{
	dir_put(rig->top, name, text, strlen(text));
}

static void rig_start(struct rig *rig)
{
	memset(rig, 0, sizeof(*rig));
	rig->top = dir_new();
	rig->world = (struct kube_world){.get = get_env, .service_account_dir = rig->top};
	set_environment(NULL, NULL, NULL);
}

static void rig_stop(struct rig *rig)
{
	kube_target_release(&rig->config);
	dir_removep(&rig->top);
}

static int load(struct rig *rig, const char *kubeconfig)
{
	cleanup_free char *path = kubeconfig ? xasprintf("%s/%s", rig->top, kubeconfig) : NULL;

	kube_target_release(&rig->config);
	rig->err = (struct err){0};
	return kube_find(&rig->world, path, &rig->config, &rig->err);
}

/* ---- in a pod ---- */

static void in_a_pod(struct rig *rig)
{
	rig_start(rig);
	set_environment("KUBERNETES_SERVICE_HOST=10.96.0.1", "KUBERNETES_SERVICE_PORT=443", NULL);
	put(rig, "token", "abc\n");
	put(rig, "ca.crt", "-----BEGIN CERTIFICATE-----\n");
	put(rig, "namespace", "team-a\n");
}

#define RIG_TEST_FROM(begin, name) TEST_WITH(name, struct rig, rig, begin, rig_stop)
#define RIG_TEST(name)             RIG_TEST_FROM(rig_start, name)

RIG_TEST_FROM(in_a_pod, a_pod_knows_its_server)
{
	cleanup_free char *token = NULL, *ca = NULL;

	token = xasprintf("%s/token", rig->top);
	ca = xasprintf("%s/ca.crt", rig->top);
	CHECK_INT(load(rig, NULL), ==, 0);
	CHECK_STR(rig->config.server, "https://10.96.0.1:443");
	CHECK_STR(rig->config.token_file, token);
	CHECK_STR(rig->config.ca_file, ca);
	CHECK_STR(rig->config.namespace, "team-a");
	CHECK(!rig->config.token && !rig->config.ca_pem && !rig->config.proxy_url);
	CHECK_INT(kube_target_check(&rig->config, NULL), ==, 0);
}

RIG_TEST_FROM(in_a_pod, an_ipv6_host_gets_brackets)
{
	set_environment("KUBERNETES_SERVICE_HOST=fd00::1", "KUBERNETES_SERVICE_PORT=443",
			"POD_NAMESPACE=of-the-pod");
	CHECK_INT(load(rig, NULL), ==, 0);
	CHECK_STR(rig->config.server, "https://[fd00::1]:443");
	CHECK_STR(rig->config.namespace, "of-the-pod");
}

RIG_TEST(outside_of_a_cluster_there_is_none)
{
	CHECK_INT(load(rig, NULL), ==, -1);
	CHECK_INT(rig->err.kind, ==, ERR_ABSENT);
	set_environment("KUBERNETES_SERVICE_HOST=10.96.0.1", "KUBERNETES_SERVICE_PORT=", NULL);
	CHECK_INT(load(rig, NULL), ==, -1);
	CHECK_INT(rig->err.kind, ==, ERR_ABSENT);
	/* automountServiceAccountToken: false */
	set_environment("KUBERNETES_SERVICE_HOST=10.96.0.1", "KUBERNETES_SERVICE_PORT=443", NULL);
	CHECK_INT(load(rig, NULL), ==, -1);
	CHECK_INT(rig->err.kind, ==, ERR_ABSENT);
	CHECK_HAS(rig->err.msg, "automountServiceAccountToken");
}

RIG_TEST_FROM(in_a_pod, a_pod_without_a_ca_is_an_error_and_not_a_lack_of_kubernetes)
{
	cleanup_free char *ca = NULL;

	ca = xasprintf("%s/ca.crt", rig->top);
	remove(ca);
	CHECK_INT(load(rig, NULL), ==, -1);
	CHECK_INT(rig->err.kind, ==, ERR_CONFIG);
	CHECK_HAS(rig->err.msg, "CA");
}

RIG_TEST_FROM(in_a_pod, a_namespace_that_nobody_knows_is_not_called_default)
{
	cleanup_free char *namespace = NULL;

	namespace = xasprintf("%s/namespace", rig->top);
	remove(namespace);
	CHECK_INT(load(rig, NULL), ==, 0);
	CHECK(!rig->config.namespace);
	CHECK_INT(kube_target_check(&rig->config, &rig->err), ==, -1);
	CHECK_INT(rig->err.kind, ==, ERR_CONFIG);
	CHECK_HAS(rig->err.msg, "POD_NAMESPACE");
}

/* ---- kubeconfig ---- */

#define YAML(cluster, user)                                                                        \
	"apiVersion: v1\nkind: Config\npreferences: {}\ncurrent-context: work\n"                   \
	"contexts:\n- name: other\n  context: {cluster: x, user: y}\n"                             \
	"- name: work\n  context:\n    cluster: c1\n    user: u1\n    namespace: team-b\n"         \
	"clusters:\n- name: c1\n  cluster:\n    server: https://example.net:6443/\n" cluster       \
	"users:\n- name: u1\n  user:\n" user

RIG_TEST(a_kubeconfig_of_yaml_is_read)
{
	cleanup_free char *ca = NULL;

	ca = xasprintf("%s/pki/ca.crt", rig->top);
	put(rig, "config",
	    YAML("    certificate-authority: pki/ca.crt\n    tls-server-name: kubernetes\n"
		 "    proxy-url: http://127.0.0.1:3128\n    insecure-skip-tls-verify: false\n",
		 "    token: abc\n    tokenFile: /run/token\n"));
	CHECK_INT(load(rig, "config"), ==, 0);
	CHECK_STR(rig->config.server, "https://example.net:6443");
	CHECK_STR(rig->config.ca_file, ca);
	CHECK_STR(rig->config.tls_server_name, "kubernetes");
	CHECK_STR(rig->config.proxy_url, "http://127.0.0.1:3128");
	CHECK_STR(rig->config.token, "abc");
	CHECK_STR(rig->config.token_file, "/run/token");
	CHECK_STR(rig->config.namespace, "team-b");
	CHECK_HAS(rig->config.source, "context 'work' of ");
}

RIG_TEST(another_context_can_be_named)
{
	put(rig, "config",
	    "current-context: a\n"
	    "contexts: [{name: a, context: {cluster: c, user: u, namespace: of-a}},\n"
	    "           {name: b, context: {cluster: c, user: u, namespace: of-b}}]\n"
	    "clusters: [{name: c, cluster: {server: 'https://127.0.0.1:1'}}]\n"
	    "users: [{name: u, user: {token: abc}}]\n");
	CHECK_INT(load(rig, "config"), ==, 0);
	CHECK_STR(rig->config.namespace, "of-a");
	rig->world.context = "b";
	CHECK_INT(load(rig, "config"), ==, 0);
	CHECK_STR(rig->config.namespace, "of-b");
	CHECK_HAS(rig->config.source, "context 'b' of ");
	rig->world.context = "c";
	CHECK_INT(load(rig, "config"), ==, -1);
	CHECK_HAS(rig->err.msg, "there is no context 'c'");
}

/* "-----BEGIN X-----\nAA\n" */
#define PEM_DATA "LS0tLS1CRUdJTiBYLS0tLS0KQUEK"

RIG_TEST(data_is_decoded_and_wins)
{
	put(rig, "config",
	    YAML("    certificate-authority: nowhere\n    certificate-authority-data: " PEM_DATA
		 "\n",
		 "    client-certificate-data: |\n      LS0tLS1CRUdJTiBY\n      LS0tLS0KQUEK\n"
		 "    client-key: key.pem\n"));
	put(rig, "key.pem", "-----BEGIN KEY-----\n");
	CHECK_INT(load(rig, "config"), ==, 0);
	CHECK_STR(rig->config.ca_pem, "-----BEGIN X-----\nAA\n");
	CHECK(!rig->config.ca_file);
	CHECK_STR(rig->config.cert_pem, "-----BEGIN X-----\nAA\n");
	CHECK_STR(rig->config.key_pem, "-----BEGIN KEY-----\n"); /* both in memory then */
	CHECK(!rig->config.cert_file && !rig->config.key_file);
}

RIG_TEST(the_half_of_a_pair_that_is_in_a_file_is_read)
{
	put(rig, "config",
	    YAML("", "    client-certificate: cert.pem\n    client-key-data: " PEM_DATA "\n"));
	put(rig, "cert.pem", "-----BEGIN CERTIFICATE-----\n");
	CHECK_INT(load(rig, "config"), ==, 0);
	CHECK_STR(rig->config.cert_pem, "-----BEGIN CERTIFICATE-----\n");
	CHECK_STR(rig->config.key_pem, "-----BEGIN X-----\nAA\n");
	CHECK(!rig->config.cert_file && !rig->config.key_file);
}

RIG_TEST(a_kubeconfig_of_json_is_read)
{
	put(rig, "config",
	    "\n {\"current-context\":\"a\",\"contexts\":[{\"name\":\"a\",\"context\":{"
	    "\"cluster\":\"c\",\"user\":\"u\"}}],\"clusters\":[{\"name\":\"c\",\"cluster\":{"
	    "\"server\":\"https:\\/\\/h\"}}],\"users\":[{\"name\":\"u\",\"user\":{"
	    "\"client-certificate\":\"/a\",\"client-key\":\"/b\",\"exec\":null}}]}");
	CHECK_INT(load(rig, "config"), ==, 0);
	CHECK_STR(rig->config.server, "https://h");
	CHECK_STR(rig->config.cert_file, "/a");
	CHECK_STR(rig->config.key_file, "/b");
	CHECK(!rig->config.namespace && !rig->config.token);
}

TEST(a_person_logs_in_with_the_program_of_the_kubeconfig)
{
#define LOGIN(more) "    exec:\n      apiVersion: client.authentication.k8s.io/v1\n" more
#define SAYS(json)                                                                                 \
	LOGIN("      command: sh\n      args: [-c, 'printf %s \"$ANSWER\"']\n"                     \
	      "      env: [{name: ANSWER, value: '" json "'}]\n")
	static const struct {
		const char *text, *token, *error;
	} cases[] = {
		{YAML("", SAYS("{\"kind\":\"ExecCredential\",\"status\":{\"token\":\"abc\"}}")),
		 "abc", NULL},
		{YAML("", LOGIN("      command: ./login\n      args: [one]\n")), "one-v1", NULL},
		{YAML("", SAYS("{\"kind\":\"ExecCredential\",\"status\":{}}")), NULL,
		 "neither a token nor a certificate"},
		{YAML("", SAYS("{\"kind\":\"ExecCredential\",\"status\":{\"token\":\"a b\"}}")),
		 NULL, "something else than a token"},
		{YAML("",
		      SAYS("{\"kind\":\"ExecCredential\",\"status\":{\"clientKeyData\":\"x\"}}")),
		 NULL, "certificate"},
		{YAML("", SAYS("{}")), NULL, "not an ExecCredential"},
		{YAML("", SAYS("not json")), NULL, "its answer"},
		{YAML("", LOGIN("      command: sh\n      args: [-c, exit 3]\n")), NULL,
		 "exec plugin 'sh': it ended with status 3"},
		{YAML("", LOGIN("      command: no-such-login\n      installHint: get it\n")), NULL,
		 "the program was not found: get it"},
		{YAML("", LOGIN("      args: []\n")), NULL, "no command"},
		{YAML("", "    exec: {apiVersion: v9, command: sh}\n"), NULL,
		 "apiVersion 'v9' is not supported"},
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct rig rig;
		cleanup_free char *login = NULL;

		rig_start(&rig);
		rig.world.person = true;
		put(&rig, "login", /* clusters are for those who ask */
		    "#!/bin/sh\ncase $KUBERNETES_EXEC_INFO in *certificate-authority*) exit 8 ;; *client.authentication.k8s.io/v1*ExecCredential*) ;; *) exit 9 ;; esac\n"
		    "echo 'open this link' >&2\n"
		    "echo '{\"kind\":\"ExecCredential\",\"status\":{\"token\":\"'$1'-v1\"}}'\n");
		login = xasprintf("%s/login", rig.top);
		CHECK(chmod(login, 0700) == 0);
		put(&rig, "config", cases[i].text);
		CHECK_INT(load(&rig, "config"), ==, cases[i].token ? 0 : -1);
		if (cases[i].token) {
			CHECK_STR(rig.config.token, cases[i].token);
			CHECK(!rig.config.login);
		} else {
			CHECK_HAS(rig.err.msg, cases[i].error);
		}
		rig_stop(&rig);
	}
}

/* A shell of a person with many tools has more than a hundred: HOME and AWS_PROFILE come last. */
TEST(a_login_gets_the_whole_environment)
{
	cleanup_buf struct buf args = BUF_INIT;
	cleanup_free char *text = NULL;
	char name[32];
	struct rig rig;

	rig_start(&rig);
	rig.world.person = true;
	for (int i = 0; i < 400; i++) {
		snprintf(name, sizeof(name), "LOGIN_TEST_%d", i);
		setenv(name, i == 399 ? "last" : "x", 1);
		buf_addf(&args, "%s'a%d'", i ? ", " : "", i);
	}
	setenv("LOGIN_TEST_TWICE", "mine", 1);
	text = xasprintf(
		YAML("",
		     LOGIN("      command: sh\n      args: [-c, 'printf "
			   "''{\"kind\":\"ExecCredential\",\"status\":{\"token\":\"%%s-%%s-%%s-%%s\"}}'' "
			   "$LOGIN_TEST_399 $LOGIN_TEST_TWICE $# "
			   "$(env | grep -c ^LOGIN_TEST_TWICE=)', %s]\n"
			   "      env: [{name: LOGIN_TEST_TWICE, value: its}]\n")),
		buf_str(&args));
	put(&rig, "config", text);
	if (!CHECK_INT(load(&rig, "config"), ==, 0))
		tap_note("%s", rig.err.msg);
	CHECK_STR(rig.config.token, "last-its-399-1");
	for (int i = 0; i < 400; i++) {
		snprintf(name, sizeof(name), "LOGIN_TEST_%d", i);
		unsetenv(name);
	}
	unsetenv("LOGIN_TEST_TWICE");
	rig_stop(&rig);
}

/* As `gcloud container clusters get-credentials` writes it. */
TEST(a_login_hears_of_its_cluster_if_it_asks)
{
	static const char ca[] = "-----BEGIN CERTIFICATE-----\nabc\n-----END CERTIFICATE-----\n";
	cleanup_buf struct buf data = BUF_INIT;
	cleanup_json struct json *info = NULL;
	const struct json *cluster;
	struct rig rig;

	rig_start(&rig);
	rig.world.person = true;
	base64_encode(ca, strlen(ca), &data);
	put(&rig, "ca.crt", ca);
	put(&rig, "config",
	    YAML("    certificate-authority: ca.crt\n    tls-server-name: kubernetes\n"
		 "    proxy-url: http://127.0.0.1:3128\n"
		 "    extensions:\n    - name: other\n      extension: {x: 1}\n"
		 "    - name: client.authentication.k8s.io/exec\n      extension: {audience: here}\n",
		 LOGIN("      command: sh\n      provideClusterInfo: true\n"
		       "      args: [-c, 'printf %s \"$KUBERNETES_EXEC_INFO\" >\"$OUT\"; printf "
		       "\"{\\\"kind\\\":\\\"ExecCredential\\\",\\\"status\\\":{\\\"token\\\":\\\"abc\\\"}}\"']\n")));
	{
		cleanup_free char *out = xasprintf("%s/info", rig.top);
		cleanup_buf struct buf text = BUF_INIT;

		setenv("OUT", out, 1);
		if (!CHECK_INT(load(&rig, "config"), ==, 0))
			tap_note("%s", rig.err.msg);
		unsetenv("OUT");
		CHECK_STR(rig.config.token, "abc");
		CHECK_INT(fs_read(out, 65536, &text, NULL), ==, 0);
		info = json_parse(buf_str(&text), text.len_bytes, 65536, NULL);
	}
	CHECK_STR(json_str(info, "apiVersion"), "client.authentication.k8s.io/v1");
	CHECK_STR(json_str(info, "kind"), "ExecCredential");
	cluster = json_get(json_get(info, "spec"), "cluster");
	CHECK_STR(json_str(cluster, "server"), "https://example.net:6443");
	CHECK_STR(json_str(cluster, "tls-server-name"), "kubernetes");
	CHECK_STR(json_str(cluster, "proxy-url"), "http://127.0.0.1:3128");
	CHECK_STR(json_str(cluster, "certificate-authority-data"), buf_str(&data));
	CHECK_STR(json_str(json_get(cluster, "config"), "audience"), "here");
	CHECK(!json_get(cluster, "insecure-skip-tls-verify"));
	rig_stop(&rig);
}

RIG_TEST(a_person_may_be_somebody_else)
{
	static const char want[] = "Accept: application/json\n"
				   "Authorization: Basic bWU6eDp5\n"
				   "Impersonate-User: root\n"
				   "Impersonate-Uid: 7\n"
				   "Impersonate-Group: a\n"
				   "Impersonate-Group: system:b\n"
				   "Impersonate-Extra-dn%2Fx: one\n"
				   "Impersonate-Extra-dn%2Fx: two\n";
	cleanup_buf struct buf lines = BUF_INIT;
	struct kube_headers headers;

	rig->world.person = true;
	put(rig, "config",
	    YAML("", "    username: me\n    password: 'x:y'\n    as: root\n    as-uid: '7'\n"
		     "    as-groups: [a, 'system:b']\n    as-user-extra: {dn/x: [one, two]}\n"));
	if (!CHECK_INT(load(rig, "config"), ==, 0))
		tap_note("%s", rig->err.msg);
	CHECK_INT(kube_headers_check(&rig->config, NULL), ==, 0);
	kube_headers_begin(&headers, &rig->config, NULL);
	for (size_t i = 0; i < headers.count; i++)
		buf_addf(&lines, "%s\n", kube_headers_lines(&headers)[i]);
	CHECK_STR(buf_str(&lines), want);
	kube_headers_release(&headers);
	kube_headers_begin(&headers, &rig->config, "abc");
	CHECK_STR(headers.lines[1], "Authorization: Bearer abc");
	kube_headers_release(&headers);
}

TEST(a_token_that_no_header_can_have_is_refused)
{
	static const char *const tokens[] = {"abc\n", "a\r\nImpersonate-User: root", "a b",
					     "\xc3\xa4"};
	struct kube_target target = {.server = (char *)"https://h", .namespace = (char *)"n"};

	for (size_t i = 0; i < ARRAY_LEN(tokens); i++) {
		struct err err = {0};

		target.token = (char *)tokens[i];
		CHECK_INT(kube_headers_check(&target, &err), ==, -1);
		CHECK_INT(err.kind, ==, ERR_CONFIG);
		CHECK(!strstr(err.msg, "root"));
	}
	target.token = (char *)"abc.def-_~+/=";
	CHECK_INT(kube_headers_check(&target, NULL), ==, 0);
}

TEST(a_name_that_no_header_can_have_is_refused)
{
	static const struct {
		const char *as, *named;
	} cases[] = {
		{"{\"as-groups\":[\"a\"]}", "requires a user"},
		{"{\"as\":[\"a\"]}", "requires a user"},
		{"{\"as\":\"\"}", "Impersonate-User"},
		{"{\"as\":\"a\\r\\nX: y\"}", "Impersonate-User"},
		{"{\"as\":\"a\",\"as-groups\":[\"b\\n\"]}", "Impersonate-Group"},
		{"{\"as\":\"a\",\"as-groups\":[7]}", "Impersonate-Group"},
		{"{\"as\":\"a\",\"as-user-extra\":{\"k\":[\"\\u00e4\"]}}", "Impersonate-Extra-k"},
		/* these would be left out, and the rights be others than those that were asked for */
		{"{\"as\":\"a\",\"as-groups\":\"b\"}", "as-groups: not a list"},
		{"{\"as\":\"a\",\"as-groups\":{\"b\":\"c\"}}", "as-groups: not a list"},
		{"{\"as\":\"a\",\"as-user-extra\":\"b\"}", "as-user-extra: not a map"},
		{"{\"as\":\"a\",\"as-user-extra\":{\"k\":\"b\"}}", "as-user-extra: k: not a list"},
	};
	cleanup_buf struct buf many = BUF_INIT;
	struct kube_target target = {.server = (char *)"https://h", .namespace = (char *)"n"};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct err err = {0};

		target.as = (char *)cases[i].as;
		CHECK_INT(kube_headers_check(&target, &err), ==, -1);
		CHECK_INT(err.kind, ==, ERR_CONFIG);
		CHECK_HAS(err.msg, cases[i].named);
	}
	for (int count = 35; count <= 36; count++) {
		struct err err = {0};
		struct kube_headers headers;

		buf_clear(&many);
		buf_addstr(&many, "{\"as\":\"a\",\"as-groups\":[\"g\"");
		for (int i = 1; i < count; i++)
			buf_addstr(&many, ",\"g\"");
		buf_addstr(&many, "]}");
		target.as = (char *)buf_str(&many);
		CHECK_INT(kube_headers_check(&target, &err), ==, count == 35 ? 0 : -1);
		if (count == 36)
			continue;
		kube_headers_begin(&headers, &target, "token");
		kube_headers_add(&headers, xstrdup("one"));
		kube_headers_add(&headers, xstrdup("two"));
		kube_headers_release(&headers);
	}
}

/* client-go merges the flags into the user of the kubeconfig, member by member. */
TEST(the_command_line_replaces_what_it_names_of_the_impersonation)
{
	static const char *const groups[] = {"x", "y"};
	static const struct {
		const char *before, *user;
		size_t count;
		const char *after;
	} rows[] = {
		{NULL, "u", 0, "{\"as\":\"u\"}"},
		{NULL, "u", 2, "{\"as\":\"u\",\"as-groups\":[\"x\",\"y\"]}"},
		{"{\"as\":\"a\",\"as-groups\":[\"g\"]}", "u", 0,
		 "{\"as-groups\":[\"g\"],\"as\":\"u\"}"},
		{"{\"as\":\"a\",\"as-uid\":\"7\"}", NULL, 1,
		 "{\"as\":\"a\",\"as-uid\":\"7\",\"as-groups\":[\"x\"]}"},
		{"{\"as\":\"a\"}", "", 0, "{\"as\":\"a\"}"},
		{NULL, "", 0, NULL},
		{"[", "u", 0, "["},
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct kube_target target = {.as = xstrdup(rows[i].before)};

		kube_headers_as(&target, rows[i].user, groups, rows[i].count);
		CHECK_STR(target.as, rows[i].after);
		kube_target_release(&target);
	}
}

RIG_TEST(what_is_empty_impersonates_nobody)
{
	put(rig, "config",
	    YAML("", "    token: abc\n    as: ''\n    as-uid: ''\n"
		     "    as-groups: []\n    as-user-extra: {}\n"));
	if (!CHECK_INT(load(rig, "config"), ==, 0))
		tap_note("%s", rig->err.msg);
	CHECK(!rig->config.as);
}

RIG_TEST(a_certificate_is_left_unchecked_only_for_a_caller_that_says_so)
{
	put(rig, "config", YAML("    insecure-skip-tls-verify: true\n", "    token: abc\n"));
	rig->world.person = true;
	CHECK_INT(load(rig, "config"), ==, -1);
	CHECK_HAS(rig->err.msg, "insecure-skip-tls-verify is not accepted");
	rig->world.warns = true;
	CHECK_INT(load(rig, "config"), ==, 0);
	CHECK(rig->config.insecure);
}

TEST(what_is_refused_is_named)
{
	static const struct {
		const char *text, *named;
	} cases[] = {
		{YAML("", "    exec:\n      command: aws-iam-login\n"),
		 "exec plugin 'aws-iam-login'"},
		{YAML("", "    token: abc\n    exec: {command: x}\n"), "exec plugin 'x'"},
		{YAML("", "    auth-provider:\n      name: oidc\n"), "auth-provider 'oidc'"},
		{YAML("", "    username: me\n    password: x\n"), "'username' is not accepted"},
		{YAML("", "    password: x\n"), "requires its username"},
		{YAML("", "    username: me\n    token: x\n"), "exclude each other"},
		{YAML("    insecure-skip-tls-verify: true\n    certificate-authority: /a\n",
		      "    token: abc\n"),
		 "exclude each other"},
		{YAML("", "    token: abc\n    as: root\n"), "'as' is not accepted"},
		{YAML("    insecure-skip-tls-verify: true\n", "    token: abc\n"),
		 "insecure-skip-tls-verify is not accepted"},
		{YAML("", "    {}\n"), "neither a token nor a client certificate"},
		{YAML("", "    client-certificate: /a\n"), "requires its key"},
		{YAML("    certificate-authority-data: '?'\n", "    token: a\n"),
		 "certificate-authority-data: Base64"},
		{YAML("    certificate-authority-data: AAAA\n", "    token: a\n"), "not PEM"},
		{YAML("    certificate-authority: [a]\n", "    token: a\n"),
		 "'certificate-authority'"},
		{"current-context: a\ncontexts: []\n", "there is no context 'a'"},
		{"current-context: a\ncontexts: [{name: a, context: {cluster: c}}]\n",
		 "there is no cluster 'c'"},
		{"current-context: a\ncontexts: [{name: a, context: {user: c}}]\n", "no cluster"},
		{"current-context: a\ncontexts: [{name: a}]\n", "context 'a' is empty"},
		{"current-context: a\ncontexts: [{name: a, context: {}}, {name: a, context: {}}]\n",
		 "twice"},
		{"current-context: a\ncontexts: [{name: a, context: {cluster: c, user: u}}]\n"
		 "clusters: [{name: c, cluster: {server: 'https://h'}}]\n",
		 "there is no user 'u'"},
		{"current-context: a\ncontexts: [{name: a, context: {cluster: c, user: u}}]\n"
		 "clusters: [{name: c, cluster: {}}]\n",
		 "no server"},
		{"current-context: a\ncontexts: [{name: a, context: {cluster: c, user: u}}]\n"
		 "clusters: [{name: c, cluster: {server: 'http://h'}}]\n"
		 "users: [{name: u, user: {token: t}}]\n",
		 "http://"},
		{"kind: Config\n", "no current-context"},
		{"current-context: []\n", "current-context"},
		{"- a\n", "line 1"},
		{"a: [\n", "line"},
		{"{\"a\":}", "byte"},
		{"", "no current-context"},
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct rig rig;

		rig_start(&rig);
		put(&rig, "config", cases[i].text);
		CHECK_INT(load(&rig, "config"), ==, -1);
		CHECK_INT(rig.err.kind, ==, ERR_CONFIG);
		CHECK_HAS(rig.err.msg, cases[i].named);
		CHECK_HAS(rig.err.msg, "Kubernetes: ");
		CHECK(!rig.config.server && !rig.config.token);
		rig_stop(&rig);
	}
}

TEST(http_is_for_this_host_only)
{
	static const struct {
		const char *server;
		int rc;
	} cases[] = {
		{"http://localhost:8001", 0},  {"http://127.0.0.1:8001", 0},
		{"http://[::1]:8001/x", 0},    {"http://localhost.example.net", -1},
		{"http://127.0.0.1.evil", -1}, {"ftp://localhost", -1},
		{"https://host/with/path", 0}, {"localhost:8001", -1},
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct kube_target config = {.server = (char *)cases[i].server,
					     .namespace = (char *)"n"};

		CHECK_INT(kube_target_check(&config, NULL), ==, cases[i].rc);
	}
}

/* ---- several files ---- */

RIG_TEST(of_several_files_the_first_that_says_it_wins)
{
	cleanup_free char *list = NULL, *ca = NULL;

	CHECK_INT(mkdir((list = xasprintf("%s/sub", rig->top)), 0700), ==, 0);
	ca = xasprintf("%s/sub/ca.crt", rig->top);
	put(rig, "one",
	    "current-context: ''\nusers: [{name: u1, user: {token: of-one}}]\n"
	    "contexts: [{name: work, context: {cluster: c1, user: u1}}]\n");
	put(rig, "sub/two", YAML("    certificate-authority: ca.crt\n", "    token: of-two\n"));
	free(list);
	list = xasprintf("KUBECONFIG=%s/none:%s/one::%s/sub/two", rig->top, rig->top, rig->top);
	set_environment(list, "KUBERNETES_SERVICE_HOST=10.96.0.1", "KUBERNETES_SERVICE_PORT=443");
	CHECK_INT(load(rig, NULL), ==, 0);
	CHECK_STR(rig->config.token, "of-one");
	CHECK_STR(rig->config.server, "https://example.net:6443");
	CHECK_STR(rig->config.ca_file, ca);
	CHECK(!rig->config.namespace); /* the whole context is the first file's */
	/* a file that is named comes before all of them */
	CHECK_INT(load(rig, "sub/two"), ==, 0);
	CHECK_STR(rig->config.token, "of-two");
}

RIG_TEST_FROM(in_a_pod, a_file_that_is_named_must_be_there)
{
	CHECK_INT(load(rig, "none"), ==, -1);
	CHECK_INT(rig->err.kind, ==, ERR_CONFIG);
	set_environment("KUBECONFIG=/nonexistent/a:/nonexistent/b", NULL, NULL);
	CHECK_INT(load(rig, NULL), ==, -1);
	CHECK_INT(rig->err.kind, ==, ERR_CONFIG);
	CHECK_HAS(rig->err.msg, "none of the files exists");
	set_environment("KUBECONFIG=:", NULL, NULL);
	CHECK_INT(load(rig, NULL), ==, -1);
	CHECK_INT(rig->err.kind, ==, ERR_CONFIG);
	set_environment("KUBECONFIG=a:a:a:a:a:a:a:a:a:a:a:a:a:a:a:a:a:a", NULL, NULL);
	CHECK_INT(load(rig, NULL), ==, -1);
}
