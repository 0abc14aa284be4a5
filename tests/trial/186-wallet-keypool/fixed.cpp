// walletgen: create a descriptor wallet in an SQLite file, fill the key pools
// of its script-pubkey managers, then reopen it and print a summary.
#include <openssl/bn.h>
#include <openssl/crypto.h>
#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/obj_mac.h>
#include <openssl/sha.h>
#include <sqlite3.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>
#include <unistd.h>

using Bytes = std::vector<unsigned char>;

// ---------------------------------------------------------------- database

class SQLiteBatch;

class SQLiteDatabase
{
public:
    explicit SQLiteDatabase(const std::string& path)
    {
        if (sqlite3_open(path.c_str(), &m_db) != SQLITE_OK) Fail("open");
        Exec("PRAGMA locking_mode = exclusive");
        Exec("PRAGMA fullfsync = true");
        Exec("CREATE TABLE IF NOT EXISTS main(key BLOB PRIMARY KEY NOT NULL, value BLOB NOT NULL)");
    }
    ~SQLiteDatabase() { sqlite3_close(m_db); }
    SQLiteDatabase(const SQLiteDatabase&) = delete;

    void Exec(const char* sql)
    {
        if (sqlite3_exec(m_db, sql, nullptr, nullptr, nullptr) != SQLITE_OK) Fail(sql);
    }
    [[noreturn]] void Fail(const std::string& what)
    {
        throw std::runtime_error("SQLiteDatabase: " + what + ": " + sqlite3_errmsg(m_db));
    }
    sqlite3* m_db{nullptr};
};

class SQLiteBatch
{
public:
    explicit SQLiteBatch(SQLiteDatabase& db) : m_database(db)
    {
        Prepare(&m_read_stmt, "SELECT value FROM main WHERE key = ?");
        Prepare(&m_overwrite_stmt, "INSERT or REPLACE into main values(?, ?)");
        Prepare(&m_cursor_stmt, "SELECT key, value FROM main WHERE key >= ? ORDER BY key");
    }
    ~SQLiteBatch()
    {
        if (m_txn) TxnAbort();
        sqlite3_finalize(m_read_stmt);
        sqlite3_finalize(m_overwrite_stmt);
        sqlite3_finalize(m_cursor_stmt);
    }

    bool Read(const Bytes& key, Bytes& value)
    {
        BindBlob(m_read_stmt, 1, key);
        bool found = sqlite3_step(m_read_stmt) == SQLITE_ROW;
        if (found) value = Column(m_read_stmt, 0);
        Reset(m_read_stmt);
        return found;
    }
    bool Write(const Bytes& key, const Bytes& value)
    {
        BindBlob(m_overwrite_stmt, 1, key);
        BindBlob(m_overwrite_stmt, 2, value);
        int res = sqlite3_step(m_overwrite_stmt);
        Reset(m_overwrite_stmt);
        return res == SQLITE_DONE;
    }
    template <typename F> void ForEachFrom(const Bytes& first, F fn)
    {
        BindBlob(m_cursor_stmt, 1, first);
        while (sqlite3_step(m_cursor_stmt) == SQLITE_ROW) {
            if (!fn(Column(m_cursor_stmt, 0), Column(m_cursor_stmt, 1))) break;
        }
        Reset(m_cursor_stmt);
    }
    bool TxnBegin()
    {
        if (m_txn) return false;
        m_database.Exec("BEGIN TRANSACTION");
        return m_txn = true;
    }
    bool TxnCommit()
    {
        if (!m_txn) return false;
        m_database.Exec("COMMIT TRANSACTION");
        m_txn = false;
        return true;
    }
    void TxnAbort()
    {
        m_database.Exec("ROLLBACK TRANSACTION");
        m_txn = false;
    }

private:
    void Prepare(sqlite3_stmt** stmt, const char* sql)
    {
        if (sqlite3_prepare_v2(m_database.m_db, sql, -1, stmt, nullptr) != SQLITE_OK) m_database.Fail(sql);
    }
    static void BindBlob(sqlite3_stmt* stmt, int i, const Bytes& b)
    {
        sqlite3_bind_blob(stmt, i, b.data(), b.size(), SQLITE_STATIC);
    }
    static Bytes Column(sqlite3_stmt* stmt, int i)
    {
        auto* p = static_cast<const unsigned char*>(sqlite3_column_blob(stmt, i));
        return Bytes(p, p + sqlite3_column_bytes(stmt, i));
    }
    static void Reset(sqlite3_stmt* stmt)
    {
        sqlite3_clear_bindings(stmt);
        sqlite3_reset(stmt);
    }
    SQLiteDatabase& m_database;
    sqlite3_stmt *m_read_stmt{nullptr}, *m_overwrite_stmt{nullptr}, *m_cursor_stmt{nullptr};
    bool m_txn{false};
};

// ---------------------------------------------------------------- records

static Bytes DBKey(const std::string& type, const std::string& id, uint32_t index)
{
    Bytes k(type.begin(), type.end());
    k.push_back('\0');
    k.insert(k.end(), id.begin(), id.end());
    for (int s = 24; s >= 0; s -= 8) k.push_back(index >> s);
    return k;
}

class WalletBatch
{
public:
    explicit WalletBatch(SQLiteDatabase& db) : m_batch(db) {}
    bool WriteDescriptor(const std::string& id, uint32_t range_end, const std::string& desc)
    {
        Bytes v{(unsigned char)(range_end >> 8), (unsigned char)range_end};
        v.insert(v.end(), desc.begin(), desc.end());
        return m_batch.Write(DBKey("walletdescriptor", id, 0), v);
    }
    bool WriteDescriptorDerivedCache(const Bytes& pubkey, const std::string& id, uint32_t index)
    {
        return m_batch.Write(DBKey("walletdescriptorcache", id, index), pubkey);
    }
    bool WriteActive(const std::string& id, int type, bool internal)
    {
        return m_batch.Write(DBKey(internal ? "activeinternalspk" : "activeexternalspk", "", type), Bytes(id.begin(), id.end()));
    }
    bool TxnBegin() { return m_batch.TxnBegin(); }
    bool TxnCommit() { return m_batch.TxnCommit(); }
    SQLiteBatch m_batch;
};

// ---------------------------------------------------------------- keys

struct Secp {
    EC_GROUP* group = EC_GROUP_new_by_curve_name(NID_secp256k1);
    BN_CTX* ctx = BN_CTX_new();
    ~Secp() { EC_GROUP_free(group); BN_CTX_free(ctx); }
};

struct ExtKey {
    std::array<unsigned char, 32> secret{}, chaincode{};

    static ExtKey FromSeed(const std::string& key, const Bytes& data)
    {
        unsigned char out[64];
        unsigned len = sizeof out;
        HMAC(EVP_sha512(), key.data(), key.size(), data.data(), data.size(), out, &len);
        ExtKey k;
        memcpy(k.secret.data(), out, 32);
        memcpy(k.chaincode.data(), out + 32, 32);
        return k;
    }
    // hardened derivation: the private key goes into the HMAC
    ExtKey Derive(const Secp& ec, uint32_t n) const
    {
        Bytes data{0};
        data.insert(data.end(), secret.begin(), secret.end());
        for (int s = 24; s >= 0; s -= 8) data.push_back((n | 0x80000000u) >> s);
        ExtKey child = FromSeed(std::string(chaincode.begin(), chaincode.end()), data);
        BIGNUM* a = BN_bin2bn(secret.data(), 32, nullptr);
        BIGNUM* b = BN_bin2bn(child.secret.data(), 32, nullptr);
        BN_mod_add(a, a, b, EC_GROUP_get0_order(ec.group), ec.ctx);
        BN_bn2binpad(a, child.secret.data(), 32);
        BN_free(a);
        BN_free(b);
        return child;
    }
    Bytes PubKey(const Secp& ec) const
    {
        BIGNUM* s = BN_bin2bn(secret.data(), 32, nullptr);
        EC_POINT* p = EC_POINT_new(ec.group);
        EC_POINT_mul(ec.group, p, s, nullptr, nullptr, ec.ctx);
        Bytes out(33);
        EC_POINT_point2oct(ec.group, p, POINT_CONVERSION_COMPRESSED, out.data(), out.size(), ec.ctx);
        EC_POINT_free(p);
        BN_free(s);
        return out;
    }
};

static std::string Hex(const unsigned char* p, size_t n)
{
    static const char* d = "0123456789abcdef";
    std::string s;
    for (size_t i = 0; i < n; ++i) { s += d[p[i] >> 4]; s += d[p[i] & 15]; }
    return s;
}

static std::string ScriptFor(const Bytes& pubkey)
{
    unsigned char h[32];
    SHA256(pubkey.data(), pubkey.size(), h);
    return "0014" + Hex(h, 20);
}

// ---------------------------------------------------------------- wallet

class DescriptorScriptPubKeyMan
{
public:
    DescriptorScriptPubKeyMan(SQLiteDatabase& db, const Secp& ec, int type, bool internal, unsigned keypool)
        : m_database(db), m_ec(ec), m_type(type), m_internal(internal), m_keypool_size(keypool) {}

    void SetupDescriptorGeneration(WalletBatch& batch, const ExtKey& master)
    {
        static const char* fmt[] = {"pkh", "sh-wpkh", "wpkh", "tr"};
        m_account = master.Derive(m_ec, 84 + m_type).Derive(m_ec, 0).Derive(m_ec, m_internal);
        Bytes pub = m_account.PubKey(m_ec);
        m_desc = std::string(fmt[m_type]) + "([" + Hex(pub.data(), 4) + "/" + std::to_string(m_internal) + "']/*')";
        unsigned char h[32];
        SHA256(reinterpret_cast<const unsigned char*>(m_desc.data()), m_desc.size(), h);
        m_id = Hex(h, 16);
        if (!batch.WriteDescriptor(m_id, 0, m_desc)) throw std::runtime_error("writing descriptor failed");
        TopUpWithDB(batch);
    }
    void TopUpWithDB(WalletBatch& batch)
    {
        for (uint32_t i = m_range_end; i < m_keypool_size; ++i) {
            Bytes pub = m_account.Derive(m_ec, i).PubKey(m_ec);
            m_map_script_pub_keys[ScriptFor(pub)] = i;
            if (!batch.WriteDescriptorDerivedCache(pub, m_id, i)) throw std::runtime_error("writing cache item failed");
            m_range_end = i + 1;
        }
        batch.WriteDescriptor(m_id, m_range_end, m_desc);
    }
    const std::string& GetID() const { return m_id; }
    size_t Size() const { return m_map_script_pub_keys.size(); }
    int Type() const { return m_type; }
    bool IsInternal() const { return m_internal; }

private:
    SQLiteDatabase& m_database;
    const Secp& m_ec;
    int m_type;
    bool m_internal;
    uint32_t m_keypool_size, m_range_end{0};
    ExtKey m_account;
    std::string m_id, m_desc;
    std::map<std::string, uint32_t> m_map_script_pub_keys;
};

class CWallet
{
public:
    CWallet(SQLiteDatabase& db, const Secp& ec) : m_database(db), m_ec(ec) {}

    void SetupDescriptorScriptPubKeyMans(const ExtKey& master, unsigned keypool)
    {
        WalletBatch batch(m_database);
        if (!batch.TxnBegin()) throw std::runtime_error("cannot begin the setup transaction");
        for (bool internal : {false, true}) {
            for (int type = 0; type < 4; ++type) {
                auto spkm = std::make_unique<DescriptorScriptPubKeyMan>(m_database, m_ec, type, internal, keypool);
                spkm->SetupDescriptorGeneration(batch, master);
                batch.WriteActive(spkm->GetID(), type, internal);
                m_spk_managers.push_back(std::move(spkm));
            }
        }
        if (!batch.TxnCommit()) throw std::runtime_error("cannot commit the setup transaction");
    }
    std::vector<std::unique_ptr<DescriptorScriptPubKeyMan>> m_spk_managers;

private:
    SQLiteDatabase& m_database;
    const Secp& m_ec;
};

// ---------------------------------------------------------------- main

static void PrintSummary(SQLiteDatabase& db, const CWallet& wallet)
{
    WalletBatch batch(db);
    for (const auto& spkm : wallet.m_spk_managers) {
        Bytes desc;
        batch.m_batch.Read(DBKey("walletdescriptor", spkm->GetID(), 0), desc);
        SHA256_CTX sha;
        SHA256_Init(&sha);
        size_t n = 0;
        const Bytes first = DBKey("walletdescriptorcache", spkm->GetID(), 0);
        batch.m_batch.ForEachFrom(first, [&](const Bytes& key, const Bytes& value) {
            if (key.size() != first.size() || memcmp(key.data(), first.data(), key.size() - 4)) return false;
            std::string script = ScriptFor(value);
            SHA256_Update(&sha, script.data(), script.size());
            ++n;
            return true;
        });
        unsigned char h[32];
        SHA256_Final(h, &sha);
        printf("%s %s keys %zu/%zu digest %s\n", spkm->IsInternal() ? "change " : "receive",
               std::string(desc.begin() + 2, desc.end()).c_str(), n, spkm->Size(), Hex(h, 12).c_str());
    }
}

int main(int argc, char** argv)
{
    const char* path = argc > 1 ? argv[1] : "wallet.dat";
    unsigned keypool = argc > 2 ? atoi(argv[2]) : 120;
    try {
        unlink(path);
        Secp ec;
        const std::string phrase = "legal winner thank year wave sausage worth useful legal winner thank yellow";
        Bytes seed(64);
        PKCS5_PBKDF2_HMAC(phrase.data(), phrase.size(), (const unsigned char*)"mnemonic", 8, 2048, EVP_sha512(), 64, seed.data());
        ExtKey master = ExtKey::FromSeed("Bitcoin seed", seed);
        SQLiteDatabase db(path);
        CWallet wallet(db, ec);
        wallet.SetupDescriptorScriptPubKeyMans(master, keypool);
        PrintSummary(db, wallet);
    } catch (const std::exception& e) {
        fprintf(stderr, "error: %s\n", e.what());
        return 1;
    }
    return 0;
}
