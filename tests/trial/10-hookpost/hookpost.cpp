// hookpost - prepare signed webhook deliveries: sign the body, open a TLS session and
// write the first flight of the handshake.
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/ssl.h>

#include <cstdio>
#include <fstream>
#include <iostream>
#include <map>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace hook {

struct Delivery {
    std::string host;
    std::string event;
    std::string body;
};

struct Prepared {
    std::string signature;
    size_t helloSize = 0;
};

struct CtxDeleter { void operator()(SSL_CTX *c) const { SSL_CTX_free(c); } };
struct SslDeleter { void operator()(SSL *s) const { SSL_free(s); } };
using CtxPtr = std::unique_ptr<SSL_CTX, CtxDeleter>;
using SslPtr = std::unique_ptr<SSL, SslDeleter>;

static std::runtime_error sslError(const char *what)
{
    char buf[256];
    ERR_error_string_n(ERR_get_error(), buf, sizeof buf);
    return std::runtime_error(std::string(what) + ": " + buf);
}

class TlsClient {
public:
    explicit TlsClient(const std::string &caFile) : ctx_(SSL_CTX_new(TLS_client_method()))
    {
        if (!ctx_)
            throw sslError("SSL_CTX_new");
        SSL_CTX_set_min_proto_version(ctx_.get(), TLS1_2_VERSION);
        SSL_CTX_set_verify(ctx_.get(), SSL_VERIFY_PEER, nullptr);
        if (!SSL_CTX_load_verify_locations(ctx_.get(), caFile.c_str(), nullptr))
            throw sslError(caFile.c_str());
    }

    size_t clientHello(const std::string &host) const
    {
        SslPtr ssl(SSL_new(ctx_.get()));
        BIO *in = BIO_new(BIO_s_mem()), *out = BIO_new(BIO_s_mem());
        SSL_set_bio(ssl.get(), in, out);
        SSL_set_tlsext_host_name(ssl.get(), host.c_str());
        SSL_set1_host(ssl.get(), host.c_str());
        SSL_connect(ssl.get());
        ERR_clear_error();
        return BIO_ctrl_pending(out);
    }

private:
    CtxPtr ctx_;
};

class Dispatcher {
public:
    Dispatcher(std::string caFile, std::string secret)
        : caFile_(std::move(caFile)), secret_(std::move(secret))
    {
    }

    Prepared prepare(const Delivery &d)
    {
        Prepared p;
        p.signature = sign(d.body);
        TlsClient client(caFile_);
        p.helloSize = client.clientHello(d.host);
        return p;
    }

private:
    std::string sign(const std::string &body) const
    {
        unsigned char mac[EVP_MAX_MD_SIZE];
        unsigned int n = 0;
        HMAC(EVP_sha256(), secret_.data(), int(secret_.size()),
             reinterpret_cast<const unsigned char *>(body.data()), body.size(), mac, &n);
        std::string hex;
        char tmp[3];
        for (unsigned i = 0; i < n; i++) {
            std::snprintf(tmp, sizeof tmp, "%02x", mac[i]);
            hex += tmp;
        }
        return hex;
    }

    std::string caFile_;
    std::string secret_;
};

static std::string renderBody(const std::string &event, int id, int items)
{
    std::ostringstream os;
    os << "{\"event\":\"" << event << "\",\"id\":" << id << ",\"items\":[";
    for (int i = 0; i < items; i++)
        os << (i ? "," : "") << "{\"sku\":\"SKU-" << (id * 31 + i) % 9973 << "\",\"qty\":" << i % 7 + 1 << '}';
    os << "]}";
    return os.str();
}

static std::vector<Delivery> loadQueue(const std::string &path)
{
    std::ifstream in(path);
    if (!in)
        throw std::runtime_error("cannot open " + path);
    std::vector<Delivery> out;
    std::string host, event;
    int id, items;
    while (in >> host >> event >> id >> items)
        out.push_back({host, event, renderBody(event, id, items)});
    return out;
}

} // namespace hook

int main(int argc, char **argv)
try {
    auto queue = hook::loadQueue(argc > 1 ? argv[1] : "data/queue.txt");
    hook::Dispatcher dispatcher("/etc/ssl/certs/ca-certificates.crt", "whsec_8c1f");
    std::map<std::string, size_t> perHost;
    size_t bytes = 0;
    for (const auto &d : queue) {
        hook::Prepared p = dispatcher.prepare(d);
        perHost[d.host]++;
        bytes += p.helloSize + d.body.size();
        std::cout << d.host << ' ' << d.event << ' ' << p.signature.substr(0, 16) << '\n';
    }
    for (const auto &[host, n] : perHost)
        std::cout << host << ": " << n << '\n';
    std::cout << queue.size() << " deliveries, " << bytes << " bytes\n";
    return 0;
} catch (const std::exception &e) {
    std::cerr << "hookpost: " << e.what() << '\n';
    return 1;
}
