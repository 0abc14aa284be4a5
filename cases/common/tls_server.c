// See tls_server.h. A thread for each connection, which stays open until the client closes it.
#include "loopback.h"
#include "tls_server.h"
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { BODY = 16384, VALID_S = 24 * 60 * 60 };
static SSL_CTX *context;
static char answer[BODY + 128];
static int length;

static void fail(const char *what)
{
	perror(what);
	ERR_print_errors_fp(stderr);
	exit(1);
}

// Answers the requests of one connection in their order.
static void *serve(void *argument)
{
	int connection = (int)(long)argument;
	SSL *tls = SSL_new(context);
	SSL_set_fd(tls, connection);
	char request[4096];
	int got = 0, more;
	if (SSL_accept(tls) == 1) {
		while ((more = SSL_read(tls, request + got, (int)sizeof(request) - 1 - got)) > 0) {
			got += more;
			request[got] = 0;
			if (!strstr(request, "\r\n\r\n"))
				continue;
			got = 0;
			if (SSL_write(tls, answer, length) <= 0)
				break;
		}
	}
	SSL_free(tls);
	close(connection);
	return NULL;
}

// A key and a certificate for it, which is trusted by whoever is given it.
static void certify(char *certificate, int size)
{
	EVP_PKEY *key = EVP_EC_gen("P-256");
	X509 *made = X509_new();
	X509_set_version(made, X509_VERSION_3);
	ASN1_INTEGER_set(X509_get_serialNumber(made), 1);
	X509_gmtime_adj(X509_getm_notBefore(made), -VALID_S);
	X509_gmtime_adj(X509_getm_notAfter(made), VALID_S);
	X509_NAME *name = X509_get_subject_name(made);
	X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC, (const unsigned char *)"127.0.0.1", -1, -1, 0);
	X509_set_issuer_name(made, name);
	X509_set_pubkey(made, key);
	X509_EXTENSION *addresses = X509V3_EXT_conf_nid(NULL, NULL, NID_subject_alt_name, "IP:127.0.0.1");
	X509_add_ext(made, addresses, -1);
	BIO *text = BIO_new(BIO_s_mem());
	context = SSL_CTX_new(TLS_server_method());
	if (!key || !addresses || !X509_sign(made, key, EVP_sha256()) || !PEM_write_bio_X509(text, made) ||
	    SSL_CTX_use_certificate(context, made) != 1 || SSL_CTX_use_PrivateKey(context, key) != 1)
		fail("make a certificate");
	int read = BIO_read(text, certificate, size - 1);
	certificate[read > 0 ? read : 0] = 0;
	BIO_free(text);
	X509_EXTENSION_free(addresses);
	X509_free(made);
	EVP_PKEY_free(key);
}

int start_tls_server(char *certificate, int size)
{
	certify(certificate, size);
	int head = snprintf(answer, sizeof(answer), "HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n", BODY);
	for (int i = 0; i < BODY; i++)
		answer[head + i] = (char)(i % 251);
	length = head + BODY;
	return start_on_loopback(serve);
}

void stop_tls_server(void)
{
	SSL_CTX_free(context);
	stop_on_loopback();
}
